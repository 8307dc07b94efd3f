internal import Futures

// Checks of the arguments that users pass. They throw `FutureError.invalidArgument`.

private let longestRead = 1 << 30

func checkRead(_ count: Int, at offset: Int) throws {
    try requireArgument(
        (1...longestRead).contains(count),
        "a read of \(count) bytes is out of range; give 1 to \(longestRead)")
    try checkOffset(offset)
}

func checkOffset(_ offset: Int) throws {
    try requireArgument(offset >= 0, "a position of \(offset) in a file is negative; give zero or more")
}

func checkLimit(_ limit: Int) throws {
    try requireArgument(limit >= 0, "a limit of \(limit) bytes is negative; give zero or more")
}

func checkTree(maxDepth: Int, maxEntries: Int = 0) throws {
    try requireArgument(
        maxDepth >= 0 && maxEntries >= 0,
        "maxDepth and maxEntries must be at least 0, not \(maxDepth) and \(maxEntries)")
}

func checkPermissions(_ permissions: UInt32) throws {
    try requireArgument(
        permissions <= 0o7777,
        "permissions must be from 0o000 to 0o7777, not 0o\(String(permissions, radix: 8))")
}
