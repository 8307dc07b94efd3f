internal import CLibUV

/// The version of the libuv whose headers this module was compiled with. As the library is, also for a sanitizer.
public let versionOfHeaders = "\(UV_VERSION_MAJOR).\(UV_VERSION_MINOR).\(UV_VERSION_PATCH)"
