@_exported public import SystemIO
