// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "examples",
    dependencies: [
        .package(name: "swift-uv-futures", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    ],
    targets: [
        .executableTarget(
            name: "EchoServer",
            dependencies: [
                .product(name: "UVFutures", package: "swift-uv-futures"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ])
    ]
)
