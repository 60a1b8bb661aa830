#!/usr/bin/env node
// Runs the command line; with Node 24 from node_modules if the current Node is older.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants, homedir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const cacheFolder = process.env.NODE_COMPILE_CACHE ?? findCacheFolder()
if (cacheFolder) process.env.NODE_COMPILE_CACHE = cacheFolder

const main = new URL('../src/cli/main.ts', import.meta.url)
const bundledNode = fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url))
const isSupported = Number(process.versions.node.split('.')[0]) >= 24
if (isSupported || !existsSync(bundledNode)) {
  const { enableCompileCache } = await import('node:module')
  if (cacheFolder) enableCompileCache?.(cacheFolder)
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
