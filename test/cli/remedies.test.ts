import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { findCommand, readValues } from '../../src/cli/command-line/read-values.ts'
import { commands } from '../../src/cli/commands.ts'
import { webhook } from '../../src/cli/webhooks/commands.ts'
import { describeError } from '../../src/lib/observability/describe-error.ts'
import { runCli, type CliResult } from '../support/cli/run-cli.ts'
import { runJson } from '../support/cli/run-json.ts'
import { databaseSettings } from '../support/database/engine.ts'
import { startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'
import { startModelServer } from '../support/models/model-server.ts'
import {
  manifestOf,
  smallLiveness,
  smallNetwork,
  smallRecognizer,
  writePack,
} from '../support/models/small-network.ts'
import { freePort } from '../support/network/free-port.ts'
import { respondWith, startWebhookReceiver } from '../support/webhooks/webhook-receiver.ts'
import { webhookSettings } from '../support/webhooks/webhook-settings.ts'

let gallery: TestGallery
let folder: string
let environment: Readonly<Record<string, string>>
before(async () => {
  Object.assign(process.env, webhookSettings)
  gallery = await startGallery({ environment: webhookSettings })
  folder = await mkdtemp(path.join(tmpdir(), 'facegate-remedies-'))
  const { dataDir } = gallery
  const models = { MODELS_DIR: path.join(folder, 'models') }
  environment = { DATA_DIR: dataDir, ...models, ...(await databaseSettings(dataDir)) }
})
after(async () => {
  await gallery[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

const run = (...args: string[]): Promise<CliResult> => runCli(args, environment)

/** Returns the one line on standard error of a command that fails. */
async function failureOf(...args: string[]): Promise<string> {
  const { code, err } = await run(...args)
  assert.ok(code === 1 || code === 2, err)
  return err.trimEnd().split('\n').at(-1) ?? ''
}

test('a command that writes a file names the missing folder of the file', async () => {
  const missing = path.join(folder, 'missing')
  const file = path.join(missing, 'file.json')
  const expected = (option: string): string =>
    `facegate: ${option}: the folder ${missing} does not exist; create it, or name another file; see`
  for (const [line, option] of [
    [['backup', '--to', file], '--to'],
    [['support-bundle', '--to', file], '--to'],
    [['deletions', 'export', '--to', file], '--to'],
    [['key', 'create-master', '--to', file], '--to'],
    [['calibrate', '--project', 'default', '--suspects', file], '--suspects'],
    [['calibrate', '--project', 'default', '--out', `${missing}/curve.svg`], '--out'],
    [['import', folder, '--journal', file, '--key', 'x'], '--journal'],
  ] as const) {
    const failure = await failureOf(...line)
    assert.ok(failure.startsWith(expected(option)), failure)
  }
})

test('a database that cannot be reached and a file that is no database are named', async () => {
  const port = await freePort()
  const DATABASE_URL = `postgres://role:secret@127.0.0.1:${port}/faces`
  const unreachable = await runCli(['key', 'list'], { DATABASE_URL })
  assert.equal(unreachable.err, `facegate: no PostgreSQL listens on 127.0.0.1:${port}\n`)
  const file = path.join(folder, 'text.db')
  await writeFile(file, 'text')
  const environment = { DATA_DIR: path.join(folder, 'restored'), DATABASE_URL: '' }
  const args = ['restore', '--from', file, '--deletions', 'none']
  const { err } = await runCli(args, environment)
  const remedy = 'use an intact copy (facegate restore)'
  const failure = `the database file is not a database; ${remedy}`
  assert.equal(err, `facegate: ${file} cannot be restored: ${failure}\n`)
})

test('a damaged database and a full disk are reported without a text of SQLite or a system call', () => {
  const sqlite = (errcode: number) => Object.assign(new Error('malformed'), { errcode })
  assert.match(describeError(sqlite(11)), /^the database file is damaged; .*facegate restore/u)
  assert.match(describeError(sqlite(14 | (1 << 8))), /^the database file cannot be opened/u)
  assert.equal(describeError(sqlite(1)), 'malformed')
  const write = Object.assign(new Error('ENOSPC: write'), { code: 'ENOSPC', syscall: 'write' })
  assert.equal(describeError(write), 'a file cannot be written: the disk is full; free space on it')
})

test('an installed recognizer without a similarity table ends with the command that creates it', async () => {
  const source = path.join(folder, 'raw')
  const manifest = manifestOf('raw', [smallRecognizer('net')])
  await writePack(source, manifest, { 'net.onnx': smallNetwork(16) })
  const { code, out, err } = await run('models', 'install', source)
  assert.equal(code, 0, err)
  const command = /facegate evaluate .*$/u.exec(out.trimEnd())?.[0] ?? ''
  const packFolder = path.join(folder, 'models', 'packs', 'raw')
  assert.equal(
    command,
    `facegate evaluate verification <folder of people> --models raw/net --calibrate ${packFolder}`,
  )
  const words = command.replace('<folder of people>', folder).split(' ').slice(1)
  const found = findCommand(commands, words)
  assert.ok(found.command)
  await assert.doesNotReject(readValues(found.rest, found.command))
  assert.doesNotMatch(
    await failureOf(...words),
    /--models|--calibrate/u,
    'the options are accepted',
  )
  assert.ok((await failureOf('models', 'use', 'raw')).endsWith(command))
})

test('models retire refuses a model that neither a former recognizer nor a template has', async () => {
  for (const model of ['raw/net', 'nonsense'])
    assert.equal(
      await failureOf('models', 'retire', model, '--confirm', model),
      `facegate: ${model} is not a former recognizer and has no templates; see facegate models status`,
    )
})

test('a download that fails names the missing file and --from', async () => {
  await using server = await startModelServer({})
  const manifest = manifestOf('far', [
    smallLiveness('net', {
      source: {
        url: server.url('gone.onnx'),
        sha256: null,
        format: { kind: 'onnx' },
      },
    }),
  ])
  const source = path.join(folder, 'far')
  await writePack(source, manifest, {})
  const remedy =
    /cannot download http:\S+gone\.onnx: .*; download gone\.onnx on another machine and pass its folder with --from$/u
  assert.match(await failureOf('models', 'install', source), remedy)
  const searched = await failureOf('models', 'install', source, '--from', folder)
  assert.match(searched, new RegExp(`gone\\.onnx is not in ${folder}; cannot download`, 'u'))
  const address = `http://127.0.0.1:${await freePort()}/pack.json`
  assert.match(
    await failureOf('models', 'install', address),
    /cannot download http:\S+pack\.json.*; download it and its files on another machine and pass their folder$/u,
  )
})

test('--calibrate is the folder of a pack or a file that ends in .json', async () => {
  const before = await readdir(folder)
  for (const name of ['raw-2', 'packs/raw', 'table.jsn']) {
    const target = path.join(folder, name)
    assert.match(
      await failureOf('evaluate', 'verification', folder, '--calibrate', target),
      new RegExp(
        `--calibrate ${target} is neither the folder of a pack \\(with a pack\\.json\\) nor`,
        'u',
      ),
    )
  }
  assert.deepEqual(await readdir(folder), before)
})

test('webhook test states that the webhook was paused', async () => {
  await using receiver = await startWebhookReceiver()
  receiver.respond(respondWith(500))
  const create = `create --project default --url ${receiver.url}/paused --events budget.low`
  const { webhookId } = await runJson(gallery.dataDir, webhook, create)
  const first = await run('webhook', 'test', webhookId)
  assert.equal(first.code, 1)
  assert.match(first.err, /was not delivered: /u)
  assert.doesNotMatch(first.err, /paused/u)
  const pausedUntilMs = Date.now() + 3_600_000
  const { db } = gallery.database.store
  await db
    .updateTable('webhooks')
    .set({ pausedUntilMs })
    .where('webhookId', '=', webhookId)
    .execute()
  const second = await run('webhook', 'test', webhookId)
  const untilUtc = new Date(pausedUntilMs).toISOString()
  assert.match(
    second.err,
    new RegExp(
      `^the webhook was paused until ${untilUtc} after \\d+ failed attempts; the test ends the pause\n`,
      'u',
    ),
  )
})
