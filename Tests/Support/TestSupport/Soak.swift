internal import Foundation

/// Whether the full sizes are to be tested: with `SOAK` in the environment.
public let isSoaking = ProcessInfo.processInfo.environment["SOAK"] != nil

/// How many of something have to fit in memory, stack and time, and how often what is random is tried. A debug build
/// tries a tenth of what release tries, and a sanitizer's less.
public let largeCount = isSoaking ? 1_000_000 : isSanitized ? 2_000 : isDebug ? 10_000 : 100_000

/// The stack of a thread that `largeCount` calls within each other do not fit: about thirteen bytes for each in debug, and
/// five in release. Under a sanitizer, which makes fewer, they may fit.
public let smallStack = isDebug ? 128 << 10 : 512 << 10

#if DEBUG
    public let isDebug = true
#else
    public let isDebug = false
#endif

/// By how much less a debug build and a sanitizer's run try of what is large only to fill memory or stack, or to make rare
/// orders of events likely. Each takes up to ten times as long there. The release build tries all of it.
public let slowShare = isSanitized ? 5 : isDebug ? 2 : 1

extension Collection {
    /// The first, the sixth and so on under a sanitizer, else all: for cases each of which starts a process. That takes ten times
    /// as long there.
    public var sampled: [Element] {
        enumerated().filter { !isSanitized || $0.offset % 5 == 0 }.map(\.element)
    }
}

/// Whether a sanitizer watches the process. That for threads has a thread of its own.
public let isSanitized = unsafe dlsym(nil, "__asan_init") != nil || isThreadSanitized
public let isThreadSanitized = unsafe dlsym(nil, "__tsan_init") != nil
