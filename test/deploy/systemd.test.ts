import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { readConfig, settings } from '../../src/config.ts'
import { rootDir } from '../support/paths.ts'

const file = path.join(rootDir, 'deploy', 'systemd', 'facegate.service')
const text = await readFile(file, 'utf8')

const valuesOf = (name: string): readonly string[] =>
  [...text.matchAll(new RegExp(`^${name}=(.*)$`, 'gmu'))].map(([, value = '']) => value)

test('The systemd unit sets settings that exist, and waits longer than a stop takes', () => {
  const environment = valuesOf('Environment').map((line) => line.split('=')[0] ?? '')
  assert.deepEqual(
    environment.filter((name) => !(name in settings)),
    [],
  )
  assert.ok(environment.includes('DATA_DIR'))
  const { SHUTDOWN_DELAY_MS, DRAIN_TIMEOUT_MS } = readConfig({})
  const [stopS = ''] = valuesOf('TimeoutStopSec')
  // The workers and the database are closed after the calls.
  assert.ok(Number(stopS) * 1000 >= SHUTDOWN_DELAY_MS + DRAIN_TIMEOUT_MS + 15_000)
})

const analyze = spawnSync('systemd-analyze', ['--version'])
const skip = analyze.status === 0 ? false : 'systemd is not installed'

test(
  'systemd accepts the unit without a warning, and rates it as protected',
  { skip },
  async () => {
    const dir = await mkdtemp(path.join(tmpdir(), 'facegate-systemd-'))
    try {
      const unit = path.join(dir, 'facegate.service')
      // systemd checks that the command exists.
      await writeFile(unit, text.replaceAll('/opt/facegate', rootDir))
      const verified = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' })
      assert.deepEqual([verified.status, verified.stderr], [0, ''])
      const misspelled = text
        .replace('PrivateTmp=', 'PrivatTmp=')
        .replaceAll('/opt/facegate', rootDir)
      await writeFile(unit, misspelled)
      assert.match(
        spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' }).stderr,
        /PrivatTmp/u,
      )
      const args = ['security', '--offline=true', '--threshold=20', file]
      assert.equal(spawnSync('systemd-analyze', args).status, 0)
    } finally {
      await rm(dir, { recursive: true })
    }
  },
)
