// swift-tools-version: 6.2
import PackageDescription

// A package of its own, since async-http-client takes minutes to build.
let package = Package(
    name: "NIOLibraries",
    dependencies: [
        .package(name: "swift-uv-futures", path: "../.."),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.24.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.80.0"),
    ],
    targets: [
        .executableTarget(
            name: "NIOLibraries",
            dependencies: [
                .product(name: "UVFutures", package: "swift-uv-futures"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: [
                .enableUpcomingFeature("NonisolatedNonsendingByDefault"), .defaultIsolation(MainActor.self),
            ])
    ]
)
