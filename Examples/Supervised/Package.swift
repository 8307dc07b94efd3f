// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "supervised",
    dependencies: [
        .package(name: "swift-uv-futures", path: "../.."),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    ],
    targets: [
        .executableTarget(
            name: "Supervised",
            dependencies: [
                .product(name: "UVFutures", package: "swift-uv-futures"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Logging", package: "swift-log"),
            ])
    ]
)
