import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { rootDir } from '../support/paths.ts'

test('Builds of the console in several processes run one after another', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'facegate-build-'))
  try {
    const log = path.join(folder, 'log')
    const tries = path.join(folder, 'tries')
    const program = `
      const { appendFileSync, readFileSync } = await import('node:fs')
      const { runAlone } = await import(${JSON.stringify(path.join(rootDir, 'web/build.ts'))})
      const [log, tries, lock] = ${JSON.stringify([log, tries, path.join(folder, 'lock')])}
      appendFileSync(tries, '.')
      await runAlone(lock, async () => {
        appendFileSync(log, 'start ')
        // The other processes wait for the lock, or run the job without it.
        while (readFileSync(tries, 'utf8').length < 3) await new Promise(setImmediate)
        for (let turn = 0; turn < 20_000; turn++) await new Promise(setImmediate)
        appendFileSync(log, 'end ')
      })`
    const run = () =>
      promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program])
    await Promise.all([run(), run(), run()])
    assert.equal(await readFile(log, 'utf8'), 'start end '.repeat(3))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
