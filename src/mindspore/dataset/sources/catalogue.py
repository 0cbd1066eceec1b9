"""Every public source and the module that defines it."""

from __future__ import annotations

_MODULES = {
    "source": "MappableDataset SourceDataset",
    "generator": "GeneratorDataset NumpySlicesDataset PaddedDataset",
    "records": "MindDataset OBSMindDataset TFRecordDataset",
    "csv_files": "AGNewsDataset AmazonReviewDataset CSVDataset DBpediaDataset SST2Dataset SogouNewsDataset "
    "YahooAnswersDataset YelpReviewDataset",
    "lines": "EnWik9Dataset PennTreebankDataset TextFileDataset WikiTextDataset",
    "text_sets": "CLUEDataset CoNLL2000Dataset IMDBDataset IWSLT2016Dataset IWSLT2017Dataset Multi30kDataset "
    "SQuADDataset UDPOSDataset",
    "mnist": "EMnistDataset FashionMnistDataset KMnistDataset MnistDataset QMnistDataset",
    "image_folder": "ImageFolderDataset",
    "small_images": "Cifar100Dataset Cifar10Dataset FakeImageDataset PhotoTourDataset RandomDataset STL10Dataset "
    "SVHNDataset SemeionDataset USPSDataset",
    "class_folders": "Caltech256Dataset CelebADataset Food101Dataset LFWDataset LSUNDataset OmniglotDataset "
    "Places365Dataset RenderedSST2Dataset SBUDataset SUN397Dataset",
    "annotated": "Caltech101Dataset CityscapesDataset CocoDataset DIV2KDataset FlickrDataset Flowers102Dataset "
    "KITTIDataset ManifestDataset SBDataset VOCDataset WIDERFaceDataset",
    "sound": "CMUArcticDataset GTZANDataset LJSpeechDataset LibriTTSDataset SpeechCommandsDataset TedliumDataset "
    "YesNoDataset",
}
SOURCES: dict[str, str] = {
    name: f"mindspore.dataset.sources.{module}" for module, names in _MODULES.items() for name in names.split()
}
