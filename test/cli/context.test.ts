import assert from 'node:assert/strict'
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { requireService } from '../../src/cli/context/saved-context.ts'
import { urlDefault } from '../../src/cli/import/import-options.ts'
import { runCli } from '../support/cli/run-cli.ts'
import { databaseSettings } from '../support/database/engine.ts'
import { startGallery, imageParams, type TestGallery } from '../support/gallery/test-gallery.ts'

let gallery: TestGallery
let folder: string
const settingNames = ['XDG_CONFIG_HOME', 'FACEGATE_URL', 'FACEGATE_KEY'] as const
const environmentBefore = settingNames.map((name) => [name, process.env[name]] as const)
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'facegate-context-'))
  gallery = await startGallery()
})
beforeEach(async () => {
  process.env['XDG_CONFIG_HOME'] = folder
  delete process.env['FACEGATE_URL']
  delete process.env['FACEGATE_KEY']
  await rm(file(), { force: true })
})
after(async () => {
  for (const [name, value] of environmentBefore)
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  await gallery?.[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

const file = (): string => path.join(folder, 'facegate', 'context.json')
const context = (line: string) => runCli(['context', ...line.split(' ')])

async function saved(line: string) {
  const { code, out, err } = await context(`${line} --json`)
  assert.equal(code, 0, err)
  return JSON.parse(out)
}

test('values are saved in one file that only its owner can read, shown, changed and deleted', async () => {
  assert.deepEqual(await saved('show'), { file: file() })
  const url = 'https://faces.example.org'
  assert.deepEqual(await saved(`set --url ${url}/ --project door`), {
    url,
    project: 'door',
    file: file(),
  })
  assert.deepEqual(JSON.parse(await readFile(file(), 'utf8')), { url, project: 'door' })
  await chmod(file(), 0o644)
  assert.equal((await saved('set --project gate')).project, 'gate')
  assert.equal((await saved('show')).url, url)
  if (process.platform !== 'win32') assert.equal((await stat(file())).mode & 0o777, 0o600)
  assert.match((await context('show')).out, /^value +saved\nurl +https:.*\nproject +gate\nfile/u)
  assert.deepEqual(await saved('clear'), { file: file() })
  assert.deepEqual(await saved('show'), { file: file() })
  const empty = await context('set')
  assert.equal(empty.code, 2)
  assert.match(empty.err, /there is nothing to save; pass --url, --project or --key/u)
})

test('a key is saved only if it is given, is not printed, and belongs to its address', async () => {
  process.env['FACEGATE_KEY'] = 'fsk_live_of_the_environment'
  await saved('set --url http://127.0.0.1:9000')
  assert.doesNotMatch(await readFile(file(), 'utf8'), /fsk_live/u)
  delete process.env['FACEGATE_KEY']
  const { out } = await context('set --key fsk_live_0123456789abcd')
  assert.match(out, /key +…abcd/u)
  assert.doesNotMatch(out, /0123/u)
  const options = { url: undefined, key: undefined }
  const service = { url: 'http://127.0.0.1:9000', key: 'fsk_live_0123456789abcd' }
  assert.deepEqual(requireService(options), service)
  const elsewhere = { url: 'http://127.0.0.1:9001', key: undefined }
  assert.throws(() => requireService(elsewhere), /the API key was not given/u)
  process.env['FACEGATE_URL'] = elsewhere.url
  assert.throws(() => requireService(options), /the API key was not given/u)
  delete process.env['FACEGATE_URL']
  assert.equal((await saved('set --project door')).key, '…abcd')
  assert.equal((await saved(`set --url ${elsewhere.url}`)).key, undefined, 'of another address')
})

test('options precede the environment, which precedes the saved context', async () => {
  const keyOf = (key?: string) => requireService({ url: undefined, key }).key
  const urlOf = (url?: string) => requireService({ url, key: 'any' }).url
  assert.equal(urlOf(), urlDefault)
  await saved('set --key saved')
  assert.equal(keyOf(), 'saved')
  await saved('set --url http://saved.example.org')
  assert.equal(urlOf(), 'http://saved.example.org')
  process.env['FACEGATE_URL'] = 'http://environment.example.org'
  process.env['FACEGATE_KEY'] = 'environment'
  assert.deepEqual([urlOf(), keyOf()], ['http://environment.example.org', 'environment'])
  assert.equal(urlOf('http://option.example.org'), 'http://option.example.org')
  assert.equal(keyOf('option'), 'option')
})

test('commands use the saved project, and name the remedy without one', async () => {
  await gallery.value('svc.enroll', { ...imageParams('Ada'), externalId: 'saved' })
  const settings = {
    DATA_DIR: gallery.dataDir,
    ...(await databaseSettings(gallery.dataDir)),
  }
  const list = (...args: string[]) => runCli(['subject', 'list', '--json', ...args], settings)
  const without = await list()
  assert.equal(without.code, 2)
  assert.match(without.err, /--project was not given; pass --project <id or name>.*saved context/u)
  await saved('set --project default')
  const { out } = await list()
  assert.equal(JSON.parse(out)[0].externalId, 'saved')
  const other = await list('--project', 'absent')
  assert.match(other.err, /there is no project absent/u)
})

test('a file that is not a saved context is reported with the remedy', async () => {
  await saved('set --project door')
  for (const text of ['{', '{"url":1}', '{"token":"x"}']) {
    await writeFile(file(), text)
    const { code, err } = await context('show')
    assert.equal(code, 1)
    assert.match(err, /context\.json is not a saved context; run facegate context clear\n$/u)
  }
  assert.equal((await context('clear')).code, 0)
  assert.equal((await context('show')).code, 0)
})
