// A generated model from Java, through JNI.
//
//   cc -O2 -shared -fPIC -I$JAVA_HOME/include -I$JAVA_HOME/include/linux -Inet/include -Inet/src model_jni.c net/src/*.c -lm -o libmodel.so
//   javac -d classes Model.java && java -cp classes -Djava.library.path=. Model input.bin
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;

public final class Model implements AutoCloseable {
  static {
    System.loadLibrary("model");
  }

  private long handle = create();

  private static native long create();

  private static native void destroy(long handle);

  private static native float[] predict(long handle, float[][] inputs);

  /** The first output for inputs, one array each; IllegalArgumentException if they are not what the model takes. */
  public synchronized float[] predict(float[]... inputs) {
    if (handle == 0) throw new IllegalStateException("the model is closed");
    return predict(handle, inputs);
  }

  @Override
  public synchronized void close() {
    if (handle != 0) destroy(handle);
    handle = 0;
  }

  public static void main(String[] arguments) throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(Path.of(arguments[0]))).order(ByteOrder.nativeOrder());
    float[] input = new float[bytes.remaining() / 4];
    bytes.asFloatBuffer().get(input);
    try (Model model = new Model()) {
      for (float score : model.predict(input)) System.out.println(score);
    }
  }
}
