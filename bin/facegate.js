#!/usr/bin/env node
// Starts the command line: the sources in a checkout, the compiled files in the npm package.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
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

if (major >= 24) {
  // Not a static import: Node 20 lacks the function, and must reach the message below.
  if (cacheFolder) (await import('node:module')).enableCompileCache(cacheFolder)
  await import(main.href)
} else if (isCheckout) run(bundledNode(), [])
// Its SQLite module works but prints a warning.
else if (major === 22 && minor >= 18)
  run(process.execPath, ['--disable-warning=ExperimentalWarning'])
else exitUnsupported('Node 22.18 or 24')

/** The Node 24 that `npm ci` installs in a checkout. */
function bundledNode() {
  const { platform, arch } = process
  const program = platform === 'win32' ? `win-${arch}/bin/node.exe` : `${platform}-${arch}/bin/node`
  const node = fileURLToPath(fileOf(`node_modules/node-${program}`))
  return existsSync(node) ? node : exitUnsupported('Node 24: run npm ci')
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

function exitUnsupported(needed) {
  const found = `this is Node ${process.versions.node}`
  process.stderr.write(`facegate: ${found}; facegate needs ${needed}\n`)
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
