@_exported public import ByteStreams
@_exported public import Futures
