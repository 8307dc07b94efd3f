// The kinds of work that faults come into. A kind sets up what lives longer than one piece of work, on a loop. Each
// piece of work completes with "done", or fails.
import FoundationEssentials
import Glibc
import UVFutures

/// What has been set up: a piece of work, and its end.
struct Work {
    let run: () throws -> Future<String>
    /// Whether the program has learned of the fault in another way than by the work.
    var isTold: () -> Bool = { false }
    var end: () -> Void = {}
}

let payload = Data(String(repeating: "0123456789", count: 4000).utf8)
let folder = String(cString: mkdtemp(strdup("/tmp/faults-XXXXXX")))

/// A name that nothing has had before.
@MainActor var lastName = 0
@MainActor func newName() -> String {
    lastName += 1
    return "\(lastName)"
}

func done(_ isDone: Bool) -> String { isDone ? "done" : "wrong bytes" }

@MainActor let kinds = [otherKinds, socketKinds, fileKinds, watchKinds].reduce([:]) {
    $0.merging($1) { a, _ in a }
}

@MainActor private let otherKinds: [String: (EventLoop) throws -> Work] = [
    "loop": { loop in Work { loop.sleep(for: .milliseconds(1)).map { "done" } } },
    "remote": { loop in
        Work {
            let promise = loop.makeRemotePromise(of: String.self)
            var thread = pthread_t()
            let box = Unmanaged.passRetained(Box(promise))
            let status = pthread_create(
                &thread, nil,
                { box in
                    Unmanaged<Box>.fromOpaque(box!).takeRetainedValue().promise.succeed("done")
                    return nil
                }, box.toOpaque())
            guard status == 0 else {
                box.release()
                throw Told("pthread_create")
            }
            pthread_detach(thread)
            return promise.future
        }
    },
    "pipes": { loop in
        Work {
            let (reading, writing) = try loop.makePipe()
            return writing.write(payload).flatMap { writing.close() }.and(reading.readToEnd())
                .map { done($0.1 == payload) }
                .always { reading.close() }.always { writing.close() }
        }
    },
    "watch": { loop in
        Work {
            var ends: [CInt] = [-1, -1]
            guard pipe(&ends) == 0 else { throw Told("pipe") }
            do {
                if write(ends[1], "a", 1) != 1 { throw Told("write") }
                let watch = try loop.watch(descriptor: ends[0])
                return watch.readable.map { "done" }
                    .always { watch.close().whenComplete { _ in for end in ends { close(end) } } }
            } catch {
                for end in ends { close(end) }
                throw error
            }
        }
    },
    "processes": { loop in
        Work {
            ChildProcess.run(.init("/bin/cat"), input: payload, on: loop)
                .map { done($0.standardOutput == payload) }
        }
    },
    "signals": { loop in
        Work {
            let signal = loop.signal(.user1)
            if signal.result == nil, kill(getpid(), SIGUSR1) != 0 { throw Told("kill") }
            return signal.map { "done" }
        }
    },
    "pool": { loop in Work { RemoteContext.pool.execute(on: loop) { "done" } } },
    "threads": { loop in
        Work {
            let thread = try EventLoop.onNewThread()
            return RemoteContext.loop(thread.loop).execute(on: loop) { "done" }
                .always {
                    thread.shutdown()
                    thread.join()
                }
        }
    },
]

final class Box: Sendable {
    let promise: RemotePromise<String>
    init(_ promise: RemotePromise<String>) { self.promise = promise }
}

/// What the library should have told, and has not.
struct Silent: Error {
    let what: String
    init(_ what: String) { self.what = what }
}

/// What a program learns otherwise.
struct Told: Error {
    let what: String
    init(_ what: String) { self.what = what }
}
