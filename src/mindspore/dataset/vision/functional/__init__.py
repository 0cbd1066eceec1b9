"""Pure functions on images, each for NumPy arrays (OpenCV) and PIL images (Pillow). The transforms call these."""
