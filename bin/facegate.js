#!/usr/bin/env node
// Runs the command line; with Node 24 from node_modules if the current Node is older.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants, homedir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

// A folder of the user: other users cannot change the compiled code. Without a home, nothing is cached.
const cacheFolder = process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache')
process.env.NODE_COMPILE_CACHE ??= path.join(cacheFolder, 'facegate', 'compile-cache')

const main = new URL('../src/cli/main.ts', import.meta.url)
const bundledNode = fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url))
const isSupported = Number(process.versions.node.split('.')[0]) >= 24
if (isSupported || !existsSync(bundledNode)) {
  const { enableCompileCache } = await import('node:module')
  enableCompileCache?.(process.env.NODE_COMPILE_CACHE)
  await import(main.href)
} else {
  const child = spawn(bundledNode, [fileURLToPath(main), ...process.argv.slice(2)], {
    stdio: 'inherit',
  })
  // Ctrl-C reaches both processes; the command decides when it ends.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => {
      if (signal !== 'SIGINT') child.kill(signal)
    })
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (constants.signals[signal] ?? 0)
  })
}
