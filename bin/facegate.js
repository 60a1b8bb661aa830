#!/usr/bin/env node
// Starts the command line: the sources in a checkout, the compiled files in the npm package.
import { spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { constants, homedir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const fileOf = (name) => new URL(`../${name}`, import.meta.url)
const sources = fileOf('src/cli/main.ts')
const isCheckout = existsSync(sources)
const main = isCheckout ? sources : fileOf('dist/src/cli/main.js')
const [major, minor] = process.versions.node.split('.').map(Number)

const cacheFolder = process.env.NODE_COMPILE_CACHE ?? findCacheFolder()
if (cacheFolder) process.env.NODE_COMPILE_CACHE = cacheFolder

const systemFault = findSystemFault()
if (systemFault) exitUnsupported(systemFault)
else if (major >= 24) {
  // Not a static import: Node 20 lacks the function, and must reach the message below.
  if (cacheFolder) (await import('node:module')).enableCompileCache(cacheFolder)
  await import(main.href)
} else if (isCheckout) run(bundledNode(), [])
// Its SQLite module works but prints a warning.
else if (major === 22 && minor >= 18)
  run(process.execPath, ['--disable-warning=ExperimentalWarning'])
else exitUnsupported(`this is Node ${process.versions.node}; facegate needs Node 22.18 or 24`)

/** The Node 24 that `npm ci` installs in a checkout. */
function bundledNode() {
  const { platform, arch } = process
  const program = platform === 'win32' ? `win-${arch}/bin/node.exe` : `${platform}-${arch}/bin/node`
  const node = fileURLToPath(fileOf(`node_modules/node-${program}`))
  const { versions } = process
  return existsSync(node)
    ? node
    : exitUnsupported(`this is Node ${versions.node}; facegate needs Node 24: run npm ci`)
}

/** Names the part that ONNX Runtime, which computes the networks, has no library for. */
function findSystemFault() {
  const { platform, arch } = process
  if (platform === 'darwin' && arch === 'x64')
    return 'ONNX Runtime has no library for Intel Macs; use a Mac with an ARM processor or Linux'
  return platform === 'linux' && isMusl()
    ? 'ONNX Runtime has no library for musl, as in Alpine; use a system with glibc, such as Debian'
    : ''
}

/** The report takes some milliseconds, and systems with the GNU C library rarely have musl. */
function isMusl() {
  if (!readdirSync('/lib').some((name) => name.startsWith('ld-musl-'))) return false
  process.report.excludeNetwork = true
  return !process.report.getReport().header.glibcVersionRuntime
}

/** Runs the command line in another process. Ctrl-C reaches both; the command decides when it ends. */
function run(node, flags) {
  const child = spawn(node, [...flags, fileURLToPath(main), ...process.argv.slice(2)], {
    stdio: 'inherit',
  })
  process.on('SIGINT', () => {})
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.once('exit', (status, signal) => {
    process.exitCode = status ?? 128 + (constants.signals[signal] ?? 0)
  })
}

function exitUnsupported(message) {
  process.stderr.write(`facegate: ${message}\n`)
  process.exit(1)
}

/**
 * Returns the folder for compiled code: one of the user, so that other users cannot change the code.
 * Without a home folder nothing is cached.
 */
function findCacheFolder() {
  try {
    const folder = process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache')
    return path.join(folder, 'facegate', 'compile-cache')
  } catch {
    return ''
  }
}
