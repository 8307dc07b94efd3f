// swift-tools-version: 6.2
import PackageDescription

/// Asynchronous functions run where their callers do: on the loop.
let onLoop: SwiftSetting = .enableUpcomingFeature("NonisolatedNonsendingByDefault")

let package = Package(
    name: "daemon",
    dependencies: [
        // In a repository of your own: .package(url: "https://…/swift-uv-futures", from: "0.1.0")
        .package(name: "swift-uv-futures", path: "../..")
    ],
    targets: [
        // What the daemon does, as a library, so that tests can use it on any loop.
        .target(
            name: "Greeter", dependencies: [.product(name: "UVFutures", package: "swift-uv-futures")],
            swiftSettings: [onLoop]),
        .testTarget(
            name: "GreeterTests",
            dependencies: ["Greeter", .product(name: "FuturesTesting", package: "swift-uv-futures")],
            swiftSettings: [onLoop]),
        // The program, all of which is on the loop of the main thread.
        .executableTarget(
            name: "Daemon", dependencies: ["Greeter"],
            swiftSettings: [onLoop, .defaultIsolation(MainActor.self)]),
    ]
)
