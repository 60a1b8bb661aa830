import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { copyFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { spawnFacegate, type FacegateProcess } from '../support/facegate/spawn-facegate.ts'
import { createClone, readerEnvironment } from '../support/docs/reader-environment.ts'

let clone: string
let facegate: FacegateProcess

before(async () => {
  clone = await createClone()
  facegate = await spawnFacegate({ VISION_WORKERS: '1' })
  const portrait = { bytes: await readFile(path.join(clone, 'mia.jpg')), contentType: 'image/jpeg' }
  const person = { externalId: 'badge-7', groups: ['watched'], duplicateCheck: 'off' }
  const enrolled = await facegate.run('svc.enroll', portrait, person)
  assert.equal(enrolled.body.ok, true, JSON.stringify(enrolled.body))
})
after(async () => {
  await facegate?.[Symbol.asyncDispose]()
  await rm(clone, { recursive: true, force: true })
})

const environment = () => ({ ...readerEnvironment(clone, facegate), GROUP: 'watched' })

test('The door opens only for pictures that arrive after the start, and stays closed after an error', async () => {
  const folder = path.join(clone, 'watched')
  await mkdir(folder)
  // A picture of an earlier run: it must not open the door again after a restart.
  await copyFile(path.join(clone, 'door.jpg'), path.join(folder, '0.jpg'))
  // The command fails for the second picture, because it cannot create the file again.
  const unlock = path.join(clone, 'unlock')
  await writeFile(unlock, '#!/bin/sh\nset -o noclobber\necho "$1" > unlocked\n', { mode: 0o755 })
  const door = spawn(process.execPath, ['examples/door/door.mjs', 'watched', '--watch'], {
    cwd: clone,
    env: { ...environment(), UNLOCK_COMMAND: unlock },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const lines = createInterface(door.stdout)[Symbol.asyncIterator]()
    const arrive = async (picture: string, name: string): Promise<string> => {
      await copyFile(path.join(clone, picture), path.join(clone, 'arriving'))
      await rename(path.join(clone, 'arriving'), path.join(folder, name))
      return String((await lines.next()).value)
    }
    assert.equal((await lines.next()).value, 'watching watched')
    assert.equal(await arrive('other.jpg', '1.jpg'), '1.jpg closed: no match')
    assert.match(await arrive('door.jpg', '2.jpg'), /^2\.jpg open badge-7 0\.9\d+$/u)
    assert.equal(await readFile(path.join(clone, 'unlocked'), 'utf8'), 'badge-7\n')
    assert.equal(await arrive('door.jpg', '3.jpg'), '3.jpg closed: the unlock command failed')
    assert.equal(await arrive('wall.jpg', '4.jpg'), '4.jpg closed: NO_FACE_FOUND')
    assert.equal(await arrive('other.jpg', '0.jpg'), '0.jpg closed: no match', 'written again')
  } finally {
    door.kill()
  }
})

test('The door stays closed for another person if the threshold is empty', async () => {
  await mkdir(path.join(clone, 'pictures'))
  await copyFile(path.join(clone, 'other.jpg'), path.join(clone, 'pictures', 'other.jpg'))
  const env = { ...environment(), THRESHOLD: '' }
  const door = ['examples/door/door.mjs', 'pictures']
  const { stdout } = await promisify(execFile)(process.execPath, door, { cwd: clone, env })
  assert.equal(stdout, 'other.jpg closed: no match\n')
})
