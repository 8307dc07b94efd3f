@_exported public import UVFutures
