import childProcess from 'node:child_process'
import { renameSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import { syncBuiltinESMExports } from 'node:module'
import path from 'node:path'
import { BroadcastChannel, isMainThread, threadId } from 'node:worker_threads'

/**
 * A module that `bench walk` loads into each process and thread of a service. At each SIGUSR2 it
 * writes a file to the folder `WALK_DIR`: the URLs of the source files with a function that ran since
 * the last one. The first file therefore also contains the start.
 */
const folder = process.env['WALK_DIR'] ?? ''

// A vision worker starts without the environment of the service, so that this module is passed on.
const { spawn } = childProcess
const spawnRecorded = (command: string, args: string[], options: childProcess.SpawnOptions) =>
  spawn(command, ['--import', import.meta.url, ...args], {
    ...options,
    env: { ...options.env, WALK_DIR: folder },
  })
Object.assign(childProcess, { spawn: spawnRecorded })
syncBuiltinESMExports()

const session = new Session()
session.connect()
session.post('Profiler.enable')
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

let number = 0
const channel = new BroadcastChannel('walk')
const write = (): void => {
  number += 1
  session.post('Profiler.takePreciseCoverage', (error, coverage) => {
    if (error) throw error
    const urls = coverage.result
      .filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0))
      .map(({ url }) => url)
    const file = path.join(folder, `${process.pid}-${threadId}-${number}.json`)
    writeFileSync(`${file}.part`, JSON.stringify(urls))
    renameSync(`${file}.part`, file)
  })
}
if (isMainThread)
  process.on('SIGUSR2', () => {
    // The rule is about windows of a browser.
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    channel.postMessage('write')
    write()
  })
else channel.addEventListener('message', write)
channel.unref()
