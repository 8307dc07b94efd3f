@_exported public import ByteStreams
@_exported public import Futures
@_exported public import SystemIO
