import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { createDataFolder } from '../support/database/data-folder.ts'
import { cliMainFile, rootDir } from '../support/paths.ts'

test('A command on a current database loads no migration', async () => {
  const dataDir = await createDataFolder()
  const hook = path.join(rootDir, 'test/support/cli/list-modules.ts')
  const args = ['--import', hook, cliMainFile, 'account', 'list', '--json']
  // A pipe can be full when the process exits; a file takes the whole list.
  const file = path.join(dataDir, 'modules.txt')
  const output = openSync(file, 'w')
  const { status } = spawnSync(process.execPath, args, {
    env: { ...process.env, DATA_DIR: dataDir },
    stdio: ['ignore', 'ignore', output],
  })
  closeSync(output)
  const modules = (await readFile(file, 'utf8')).split('\n')
  assert.equal(status, 0)
  assert.ok(modules.some((line) => line.includes('/sqlite/open-sqlite-store.ts')))
  assert.deepEqual(
    modules.filter((line) => line.includes('/migrations/')),
    [],
  )
  await rm(dataDir, { recursive: true })
})
