#!/usr/bin/env node
// The command line runs on the Node 24 that the project brings along, whatever started it.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const bundled = fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url))
const isNewEnough = Number(process.versions.node.split('.')[0]) >= 24
const node = isNewEnough || !existsSync(bundled) ? process.execPath : bundled
const main = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url))
const { status, signal } = spawnSync(node, [main, ...process.argv.slice(2)], { stdio: 'inherit' })
if (signal) process.kill(process.pid, signal)
process.exit(status ?? 1)
