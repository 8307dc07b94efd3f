internal import ByteStreams
internal import Futures
internal import Glibc

extension ChildProcess.Configuration {
    /// Returns the configuration in the system's terms. Throws `FutureError.invalidArgument` if it is invalid.
    func launch(joints: [CInt: ProcessLaunch.Source] = [:]) throws -> ProcessLaunch {
        try validate()
        let variables = try environment.variables(for: program)
        var sources: [CInt: ProcessLaunch.Source] = [:]
        if terminal == nil {
            sources[0] = standardInput.source
            sources[1] = (standardOutput ?? .inherited).source(1)
            sources[2] = (standardError ?? .inherited).source(2)
        } else {
            for number: CInt in 0...2 { sources[number] = .terminal }
        }
        for (number, descriptor) in descriptors { sources[number] = .descriptor(descriptor) }
        sources.merge(joints) { $1 }
        var launch = ProcessLaunch(
            program: program, paths: paths(variables[Array("PATH".utf8)]),
            arguments: [name ?? program] + arguments,
            environment: variables.map { $0 + [UInt8(ascii: "=")] + $1 }
                .sorted { $0.lexicographicallyPrecedes($1) },
            directory: workingDirectory, sources: sources)
        launch.makesSession = group == .newSession || terminal != nil
        launch.makesGroup = group == .newGroup && terminal == nil
        launch.window = terminal.map { (UInt16($0.columns), UInt16($0.rows)) }
        launch.fileMask = fileMask
        launch.limits = limits.sorted { $0.key.number < $1.key.number }.map {
            .init(resource: $0.number, name: $0.rawValue, soft: $1.soft, hard: $1.hard)
        }
        (launch.user, launch.group, launch.groups) = (user?.id, user?.group, user?.supplementaryGroups)
        launch.endsWithLoop = endsWithLoop
        return launch
    }

    private func validate() throws {
        try streamLimits.validate()
        try requireArgument(!program.isEmpty, "the program has no name; give its path, or its name in PATH")
        var texts = [program] + arguments + [name, workingDirectory].compactMap { $0 }
        let places = [standardInput.source, standardOutput?.source(1), standardError?.source(2)]
        for case .file(let path, _)? in places { texts.append(path) }
        for text in texts { try text.systemBytes.requireNoEnd(for: program) }
        for number in descriptors.keys {
            try requireArgument(
                number > 2,
                "descriptors has the key \(number); give keys of 3 or more, and set standardInput, "
                    + "standardOutput and standardError for 0 to 2"
            )
        }
        for (resource, limit) in limits {
            try requireArgument(
                limit.soft <= limit.hard,
                "the soft limit of \(resource), \(limit.soft), is above its hard limit, \(limit.hard); give "
                    + "a lower soft limit"
            )
        }
        try requireArgument(
            fileMask ?? 0 <= 0o777,
            "fileMask must be from 0o000 to 0o777, not 0o\(String(fileMask ?? 0, radix: 8))")
        try user?.validate(for: program)
        try requireArgument(
            standardOutput != .standardOutput,
            "standardOutput was set to .standardOutput, which is itself; give another place")
        guard let terminal else { return }
        try requireArgument(
            standardInput == .null && standardOutput == nil && standardError == nil,
            "the standard streams of \(program) are its terminal; leave either the streams or the terminal "
                + "unset"
        )
        try requireArgument(
            UInt16(exactly: terminal.columns) != nil && UInt16(exactly: terminal.rows) != nil,
            "a window of \(terminal.columns) by \(terminal.rows) is out of range; give 0 to 65535 for both")
    }

    /// The candidate files for the program, in search order.
    private func paths(_ search: [UInt8]?) -> [[UInt8]] {
        let (name, slash) = (program.systemBytes, UInt8(ascii: "/"))
        if name.contains(slash) { return [name] }
        return (search ?? Array("/bin:/usr/bin".utf8))
            .split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            .map { $0.isEmpty ? name : $0 + [slash] + name }
    }
}

extension ChildProcess.Environment {
    /// Returns all variables. Throws `FutureError.invalidArgument` if the user gave an invalid one.
    fileprivate func variables(for program: String) throws -> [[UInt8]: [UInt8]] {
        switch self {
        case .inherited: EnvironmentVariable.all
        case .inheriting(let changes):
            EnvironmentVariable.all.merging(try Self.checked(changes, for: program)) { $1 }
        case .only(let variables): try Self.checked(variables, for: program)
        case .bytes(let variables): try Self.checked(variables, for: program)
        }
    }

    private static func checked(
        _ texts: [String: String], for program: String
    ) throws -> [[UInt8]: [UInt8]] {
        var variables: [[UInt8]: [UInt8]] = [:]
        for (name, value) in texts {
            let isFirst = variables.updateValue(value.systemBytes, forKey: name.systemBytes) == nil
            try requireArgument(
                isFirst,
                "two environment variables have the bytes of \(name.debugDescription) as their names; give one"
            )
        }
        return try checked(variables, for: program)
    }

    private static func checked(
        _ variables: [[UInt8]: [UInt8]], for program: String
    ) throws -> [[UInt8]: [UInt8]] {
        for (name, value) in variables {
            try name.requireNoEnd(for: program)
            try value.requireNoEnd(for: program)
            let text = String(systemBytes: name).debugDescription
            try requireArgument(
                !name.isEmpty && !name.contains(UInt8(ascii: "=")),
                "an environment variable cannot be called \(text); give a name without =")
        }
        return variables
    }
}

extension [UInt8] {
    /// Throws `FutureError.invalidArgument` if these bytes contain a zero byte, which would end them early.
    fileprivate func requireNoEnd(for program: String) throws {
        let text = String(systemBytes: self).debugDescription
        try requireArgument(
            !contains(0),
            "a text for \(program) contains a NUL, which would cut it off: \(text); leave it out")
    }
}

extension ChildProcess.Input {
    fileprivate var source: ProcessLaunch.Source {
        switch self {
        case .null: .null
        case .inherited: .descriptor(0)
        case .stream: .pipe(childWrites: false)
        case .file(let path): .file(path: path, flags: O_RDONLY)
        case .descriptor(let number): .descriptor(number)
        }
    }
}

extension ChildProcess.Output {
    fileprivate func source(_ number: CInt) -> ProcessLaunch.Source {
        switch self {
        case .null: .null
        case .inherited: .descriptor(number)
        case .stream: .pipe(childWrites: true)
        case .file(let path, let appending):
            .file(path: path, flags: O_WRONLY | O_CREAT | (appending ? O_APPEND : O_TRUNC))
        case .descriptor(let number): .descriptor(number)
        case .standardOutput: .standardOutput
        }
    }
}
