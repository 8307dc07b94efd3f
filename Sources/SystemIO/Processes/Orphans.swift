internal import CFuturesSystem
internal import Futures
internal import Glibc

/// Reaps the orphans that this process has adopted, and ends them when its supervisor ends.
final class Orphans {
    private let core: LoopCore
    /// The watch on `SIGCHLD`, which reports the end of a child, among other things.
    private let watch: any SignalWatch
    private var timer: ScheduledTask<Void>?
    private var ending: Promise<Void>?
    private var isOver = false
    private var deadline: LoopInstant?
    private var pause: Duration = .milliseconds(1)
    /// The processes that have been asked to end.
    private var asked: Set<Int32> = []

    /// Adopts the orphans of this process. Returns `nil` if another supervisor already does.
    init?(on core: LoopCore) throws {
        guard try core.system.adoptOrphans(true) else { return nil }
        do {
            watch = try core.system.catchSignal(SIGCHLD, once: false)
        } catch {
            _ = try? core.system.adoptOrphans(false)
            throw error
        }
        self.core = core
        watch.onDelivery = { [unowned self] in look(after: .milliseconds(100)) }
    }

    deinit {
        timer?.cancel()
        letGo()
    }

    private func letGo() {
        guard !isOver else { return }
        isOver = true
        watch.close()
        _ = try? core.system.adoptOrphans(false)
    }

    private func look(after pause: Duration) {
        guard timer == nil else { return }
        timer = core.schedule(after: pause, keepsLoopAlive: ending != nil) { [unowned self] in
            timer = nil
            look()
        }
    }

    private func look() {
        let living = core.system.orphans()
        guard let ending, let deadline else { return }
        // Twice: one pass can miss a process whose parent it reaps.
        if living?.isEmpty == true, core.system.orphans()?.isEmpty == true {
            letGo()
            return ending.completeLast()
        }
        for process in living ?? [] {
            if core.now >= deadline {
                kill(process, SIGKILL)
            } else if asked.insert(process).inserted {
                kill(process, SIGTERM)
                kill(process, SIGCONT)
            }
        }
        look(after: pause)
        pause = min(pause * 2, .milliseconds(50))
    }

    /// Ends the orphans as `ChildProcess.end` does. A second call can only shorten the time of the first.
    func end(within grace: Duration) -> Future<Void> {
        let promise = ending ?? core.makeSharedPromise(of: Void.self)
        ending = promise
        let limit = core.now.advanced(by: grace)
        deadline = min(deadline ?? limit, limit)
        pause = .milliseconds(1)
        timer?.cancel()
        timer = nil
        look()
        return promise.future
    }
}
