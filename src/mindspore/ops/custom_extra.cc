// What functions of custom operations may ask for and leave behind: attributes, memory to work in, data for later calls.
//
// Their sources see this object through the header custom_aot_extra.h of official MindSpore, so the order of its virtual functions and
// the places of `workspace` and `data` are fixed. Exceptions end here.
#include <cstdint>
#include <cstring>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace {
struct Data {
  virtual ~Data() = default;
};

template <typename T>
using Table = std::map<std::string, T>;
using Whole = std::vector<int64_t>;
using Real = std::vector<float>;

template <typename T>
const T &Find(const Table<T> &table, const std::string &name, const char *kind) {
  auto found = table.find(name);
  if (found == table.end()) {
    throw std::runtime_error("there is no attribute '" + name + "' that is " + kind);
  }
  return found->second;
}

class Extra {
 public:
  virtual ~Extra() { delete data; }
  virtual bool Has(std::string name) { return names.count(name) > 0; }
  virtual bool Truth(std::string name) { return Find(whole, name, "a bool") != 0; }
  virtual int64_t Number(std::string name) { return Find(whole, name, "an int"); }
  virtual float RealNumber(std::string name) { return Find(real, name, "a float"); }
  virtual std::string Text(std::string name) { return Find(text, name, "a text"); }
  virtual Whole Numbers(std::string name) { return Find(wholes, name, "a list of ints"); }
  virtual Real RealNumbers(std::string name) { return Find(reals, name, "a list of floats"); }
  virtual std::vector<Whole> Rows(std::string name) { return Find(whole_rows, name, "a list of lists of ints"); }
  virtual std::vector<Real> RealRows(std::string name) { return Find(real_rows, name, "a list of lists of floats"); }

  std::vector<size_t> workspace;
  Data *data{nullptr};

  Table<bool> names;
  Table<int64_t> whole;
  Table<float> real;
  Table<std::string> text;
  Table<Whole> wholes;
  Table<Real> reals;
  Table<std::vector<Whole>> whole_rows;
  Table<std::vector<Real>> real_rows;
};

void Keep(char *message, size_t room, const char *text) {
  std::strncpy(message, text, room - 1);
  message[room - 1] = '\0';
}

template <typename F>
int Guarded(char *message, size_t room, F call) {
  try {
    return call();
  } catch (const std::exception &error) {
    Keep(message, room, error.what());
  } catch (...) {
    Keep(message, room, "an exception of an unknown type");
  }
  return -1;
}
}  // namespace

extern "C" {
Extra *ms_extra_new() { return new Extra; }
void ms_extra_delete(Extra *extra) { delete extra; }

// `rank` 0: one value, 1: a list, 2: `rows` lists of the given lengths; whole numbers (and bools) are real ones, too
void ms_extra_numbers(Extra *extra, const char *name, int rank, const int64_t *whole, const double *real, int64_t rows,
                      const int64_t *lengths) {
  std::vector<Whole> whole_rows;
  std::vector<Real> real_rows;
  for (int64_t row = 0, at = 0; row < rows; at += lengths[row++]) {
    if (whole != nullptr) whole_rows.emplace_back(whole + at, whole + at + lengths[row]);
    real_rows.emplace_back(real + at, real + at + lengths[row]);
  }
  extra->names[name] = true;
  if (rank == 0) {
    if (whole != nullptr) extra->whole[name] = whole[0];
    extra->real[name] = static_cast<float>(real[0]);
  } else if (rank == 1) {
    if (whole != nullptr) extra->wholes[name] = whole_rows[0];
    extra->reals[name] = real_rows[0];
  } else {
    if (whole != nullptr) extra->whole_rows[name] = whole_rows;
    extra->real_rows[name] = real_rows;
  }
}

void ms_extra_text(Extra *extra, const char *name, const char *value) {
  extra->names[name] = true;
  extra->text[name] = value;
}

int ms_extra_init(int (*init)(int *, int64_t **, const char **, Extra *), int *ndims, int64_t **shapes, const char **dtypes,
                  Extra *extra, char *message, size_t room) {
  return Guarded(message, room, [&] { return init(ndims, shapes, dtypes, extra); });
}

size_t ms_extra_workspaces(Extra *extra, size_t *sizes, size_t room) {
  for (size_t i = 0; i < room && i < extra->workspace.size(); i++) sizes[i] = extra->workspace[i];
  return extra->workspace.size();
}

// the number of dimensions, of which at most `room` are written
int ms_extra_shape(Whole (*infer)(int *, int64_t **, Extra *), int *ndims, int64_t **shapes, Extra *extra, int64_t *sizes, int room,
                   char *message, size_t message_room) {
  return Guarded(message, message_room, [&] {
    Whole found = infer(ndims, shapes, extra);
    for (size_t i = 0; i < found.size() && i < static_cast<size_t>(room); i++) sizes[i] = found[i];
    return static_cast<int>(found.size());
  });
}

int ms_extra_run(int (*run)(int, void **, int *, int64_t **, const char **, void *, void *), int count, void **params, int *ndims,
                 int64_t **shapes, const char **dtypes, Extra *extra, char *message, size_t room) {
  return Guarded(message, room, [&] { return run(count, params, ndims, shapes, dtypes, nullptr, extra); });
}
}
