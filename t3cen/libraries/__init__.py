"""Networks of other libraries, one file a library: `t3cen.models.build("torchvision/resnet18", ...)`."""
