// Says what llhttp, the parser of Node.js, makes of the messages in corpus.txt: a line for each, in llhttp.txt;
// or of those in another file of that format, for whoever starts it.
// usage: node llhttp.js [--check | FILE]
"use strict"
const fs = require("fs"), path = require("path")
process.removeAllListeners("warning")
process.on("warning", () => {})
const { HTTPParser } = process.binding("http_parser")
const methods = process.binding("http_parser").allMethods ?? process.binding("http_parser").methods

// The bytes that a line of the corpus stands for: {TEXT*COUNT} is TEXT so many times.
function bytes(text) {
    text = text.replace(/\{([^{}]*)\*(\d+)\}/g, (_, part, count) => part.repeat(Number(count)))
    const escapes = { r: 13, n: 10, t: 9, 0: 0, "\\": 92 }
    const out = []
    for (let index = 0; index < text.length; index++) {
        if (text[index] !== "\\") { out.push(text.charCodeAt(index)); continue }
        const letter = text[++index]
        if (letter === "x") { out.push(parseInt(text.slice(index + 1, index + 3), 16)); index += 2 }
        else out.push(escapes[letter])
    }
    return Buffer.from(out)
}

// The same words as those of Verdict.swift.
function verdict(kind, message) {
    const parts = []
    let head = null, begun = false, upgraded = false, failure = null
    const parser = new HTTPParser()
    parser.initialize(kind === "request" ? HTTPParser.REQUEST : HTTPParser.RESPONSE, {}, 32768)
    parser[HTTPParser.kOnMessageBegin | 0] = () => { begun = true }
    // Many fields come in parts, and the target with the first of them.
    let early = 0, target = ""
    parser[HTTPParser.kOnHeaders | 0] = (headers, url) => {
        if (head) { head.trailers += headers.length / 2; return }
        early += headers.length / 2
        target += url ?? ""
    }
    parser[HTTPParser.kOnHeadersComplete | 0] = (major, minor, headers, method, url, status, _, upgrade) => {
        const name = kind === "request" ? `${methods[method]} ${target + (url ?? "")}` : `${status}`
        head = { name, fields: early + (headers?.length ?? 0) / 2, length: 0, sum: 0, trailers: 0 }
        early = 0
        target = ""
        upgraded = upgrade && kind === "request"
        return kind === "head-response" ? 1 : 0
    }
    parser[HTTPParser.kOnBody | 0] = (chunk) => {
        for (const byte of chunk) head.sum = (head.sum * 31 + byte) % 65521
        head.length += chunk.length
    }
    const describe = (head) => `${head.name} ${head.fields} ${head.length}:${head.sum} ${head.trailers}`
    parser[HTTPParser.kOnMessageComplete | 0] = () => { parts.push(describe(head)); head = null; begun = false }
    const result = parser.execute(message)
    if (result instanceof Error) return `refused ${result.code}` + (parts.length ? ` after ${parts.join(" | ")}` : "")
    if (upgraded) parts.push("upgrade")
    else {
        const end = parser.finish()
        if (head) parts.push(describe(head) + " ...")
        else if (begun || end instanceof Error) parts.push("...")
    }
    return "ok " + parts.join(" | ")
}

function verdicts(file) {
    const lines = fs.readFileSync(file, "latin1").split("\n").filter((line) => line !== "" && !line.startsWith("#"))
    return lines.map((line) => {
        const [kind, , message] = line.split("\t")
        return verdict(kind, bytes(message)) + "\n"
    })
}

const said = path.join(__dirname, "llhttp.txt"), [option] = process.argv.slice(2)
if (option && option !== "--check") process.stdout.write(verdicts(option).join(""), "latin1")
else {
    const lines = verdicts(path.join(__dirname, "corpus.txt")), text = lines.join("")
    if (!option) fs.writeFileSync(said, text, "latin1")
    else if (fs.readFileSync(said, "latin1") !== text) {
        console.error(`llhttp ${process.versions.llhttp} says something else than llhttp.txt; run llhttp.js, and look at the difference`)
        process.exit(1)
    }
    console.log(`${lines.length} messages, llhttp ${process.versions.llhttp}`)
}
