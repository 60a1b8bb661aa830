#!/usr/bin/env node
// Runs the command line with Node 24 from node_modules if the current Node is older.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const bundledNode = fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url))
const isSupported = Number(process.versions.node.split('.')[0]) >= 24
const node = isSupported || !existsSync(bundledNode) ? process.execPath : bundledNode
const main = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url))
const { status, signal } = spawnSync(node, [main, ...process.argv.slice(2)], { stdio: 'inherit' })
if (signal) process.kill(process.pid, signal)
process.exit(status ?? 1)
