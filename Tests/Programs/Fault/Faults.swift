// Does one kind of work while a system call fails: faults.c makes it fail. Each piece of work has to end in time, with
// what it is for or with an error. Nothing may spin, nothing may be left open, and when the fault is over, all works.
// usage: Faults KIND [first]
import FoundationEssentials
import Glibc
import UVFutures

/// A function of faults.c.
private func function<Function>(_ name: String, as _: Function.Type) -> Function {
    unsafeBitCast(dlsym(nil, name)!, to: Function.self)
}
private let begin = function("faults_begin", as: (@convention(c) () -> Void).self)
private let end = function("faults_end", as: (@convention(c) () -> Void).self)
private let faultsMade = function("faults_made", as: (@convention(c) () -> Int).self)
private let list = function("faults_list", as: (@convention(c) () -> Void).self)

@main @MainActor struct Faults {
    static let kind = kinds[CommandLine.arguments[1]]!
    /// Dispatch waits for a second before it tries again to start a thread.
    static let limit = Duration.seconds(2.5)
    static var told: [String] = []

    static func main() {
        signal(SIGPIPE, SIG_IGN)
        // Before the threads of pools and what all loops share are there.
        if CommandLine.arguments.last == "first" { fromTheStart() }
        cycle("without a fault")
        let before = descriptors()
        inUse()
        fromTheStart()
        let left = descriptorsLeft(before)
        if !left.isEmpty { fail("descriptors are left open: \(left)") }
        if getenv("FAULT") == nil { return list() }
        print(faultsMade() == 0 ? "unreached" : "told: \(told)")
        unlinkFolder()
    }

    static func fail(_ text: String) -> Never {
        end()
        print("\(text); told: \(told)")
        unlinkFolder()
        exit(1)
    }

    static func unlinkFolder() { try? FileManager.default.removeItem(atPath: folder) }

    // MARK: The three ways

    /// All that is made and done has to work.
    static func cycle(_ when: String) {
        do {
            let loop = try makeLoop()
            let work = try kind(loop)
            guard attempt(work, on: loop, when) else { fail("\(when), it fails") }
            finish(work, loop)
        } catch {
            fail("\(when), it throws \(error)")
        }
    }

    /// The fault comes into work that works.
    static func inUse() {
        do {
            let loop = try makeLoop()
            let work = try kind(loop)
            guard attempt(work, on: loop, "before the fault") else { fail("before the fault, it fails") }
            begin()
            for _ in 0..<2 { _ = attempt(work, on: loop, "in use") }
            rest(loop, "in use")
            end()
            // Who was told that something has ended makes it anew.
            if !attempt(work, on: loop, "when the fault is over") {
                let next = try kind(loop)
                guard attempt(next, on: loop, "made anew") else { fail("made anew, it fails") }
                next.end()
            }
            finish(work, loop)
        } catch {
            fail("when the fault is over, it throws \(error)")
        }
    }

    /// The fault is there before all else.
    static func fromTheStart() {
        begin()
        do {
            let loop = try makeLoop()
            do {
                let work = try kind(loop)
                _ = attempt(work, on: loop, "from the start")
                rest(loop, "from the start")
                work.end()
            } catch {
                note(error, "from the start")
            }
            finish(nil, loop)
        } catch {
            note(error, "from the start")
        }
        end()
        cycle("after the fault")
    }

    // MARK: The steps

    static func makeLoop() throws -> EventLoop {
        let loop = try EventLoop()
        loop.onUnhandledFailure = { _ in }
        return loop
    }

    /// Whether the work was done. What it fails with instead is told.
    static func attempt(_ work: Work, on loop: EventLoop, _ when: String) -> Bool {
        do {
            let word = try loop.run(until: loop.succeeded().flatMap(work.run).timeout(after: limit))
            if word != "done" { note(Told(word), when) }
            return word == "done"
        } catch {
            let isLate = error as? FutureError == .timedOut(after: limit)
            note(isLate && work.isTold() ? Told("elsewhere") : error, when)
            return false
        }
    }

    static func note(_ error: any Error, _ when: String) {
        switch error {
        case FutureError.timedOut: fail("\(when), nobody is told")
        case FutureError.brokenPromise, is Silent: fail("\(when), \(error)")
        default: told.append("\(error)")
        }
    }

    /// Nothing is to be done for a while. A call that fails must not be made again and again.
    static func rest(_ loop: EventLoop, _ when: String) {
        let (made, used) = (faultsMade(), clock())
        _ = try? loop.run(until: loop.sleep(for: .milliseconds(60)))
        let (calls, milliseconds) = (faultsMade() - made, (clock() - used) / 1000)
        if calls > 30 { fail("\(when), the call is made \(calls) times in 60 ms of rest") }
        if milliseconds > 40 { fail("\(when), \(milliseconds) ms of processor time go into 60 ms of rest") }
    }

    static func finish(_ work: Work?, _ loop: EventLoop) {
        work?.end()
        loop.shutdown()
    }

    // MARK: What is left

    /// Without those of timers, of which Dispatch opens one when it likes to.
    static func descriptors() -> [CInt] {
        (0..<256).filter { fcntl($0, F_GETFD) >= 0 }.filter { descriptor in
            var target = [UInt8](repeating: 0, count: 64)
            let size = readlink("/proc/self/fd/\(descriptor)", &target, 64)
            return !String(decoding: target.prefix(max(size, 0)), as: UTF8.self).hasSuffix("[timerfd]")
        }
    }

    /// Descriptors of files are closed on the threads of the file pool, and those of loops on theirs.
    static func descriptorsLeft(_ before: [CInt]) -> [CInt] {
        for _ in 0..<500 where descriptors() != before { usleep(1000) }
        return descriptors().filter { !before.contains($0) }
    }
}
