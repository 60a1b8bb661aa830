import assert from 'node:assert/strict'
import { copyFile, mkdir, readFile, rm } from 'node:fs/promises'
import { userInfo } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { CliCommand } from '../../src/cli/command.ts'
import { findCommand } from '../../src/cli/command-line/read-values.ts'
import { commands } from '../../src/cli/commands.ts'
import { auditActions } from '../../src/console/server/audit-actions.ts'
import { readTemplateModel } from '../../src/models/template/template-model.ts'
import { contentOf, openDisposable } from '../support/database/table-content.ts'
import { createDataFolder } from '../support/database/data-folder.ts'
import { signDeletion } from '../support/database/sign-deletion.ts'
import { imageParams, startGallery } from '../support/gallery/test-gallery.ts'
import { runLines } from '../support/cli/run-json.ts'
import {
  calibratedRecognizer,
  recognizerFiles,
  startModelsCli,
  type ModelsCli,
} from '../support/models/models-cli.ts'
import { smallNetwork, smallRecognizer } from '../support/models/small-network.ts'
import { rootDir } from '../support/paths.ts'

/** The values of the commands, which exist only when the tests run. */
type Values = Readonly<
  Record<
    'key' | 'webhook' | 'merge' | 'pack' | 'builtinModel' | 'copy' | 'records' | 'certificate',
    string
  >
>

/** A command that changes data, its arguments, and the audit action of its entry. */
type Write = {
  readonly auditAction: string
  readonly run: (values: Values) => string
  /** The database: the second one is restored from a copy of the first. */
  readonly in?: 'restored'
}

/** A command whose entry another file tests, because it needs more than a database. */
type WriteElsewhere = { readonly auditAction: string; readonly testedIn: string }

/** A command that changes nothing in the database. */
type Read = { readonly reads: (values: Values) => string }

/** A command that does not use the database itself. */
type WithoutDatabase = { readonly withoutDatabase: string }

/** Every declared command. The commands run in this order. */
const declared: Readonly<Record<string, Write | WriteElsewhere | Read | WithoutDatabase>> = {
  serve: { withoutDatabase: 'the server' },
  status: { reads: () => '' },
  doctor: { reads: () => '' },
  'context set': { withoutDatabase: 'a file of the user' },
  'context show': { withoutDatabase: 'a file of the user' },
  'context clear': { withoutDatabase: 'a file of the user' },
  import: { withoutDatabase: 'its calls of the API are in the request log' },
  detect: { withoutDatabase: 'its call of the API is in the request log' },
  identify: { withoutDatabase: 'its call of the API is in the request log' },
  verify: { withoutDatabase: 'its call of the API is in the request log' },
  completion: { withoutDatabase: 'prints a script' },
  'account create': { auditAction: 'account.create', run: () => 'warehouse' },
  'account list': { reads: () => '' },
  'account move': { auditAction: 'account.move', testedIn: 'nodes/account-move.test.ts' },
  'account remove': { auditAction: 'account.remove', testedIn: 'nodes/account-move.test.ts' },
  'project create': { auditAction: 'project.create', run: () => 'kiosk' },
  'project list': { reads: () => '' },
  'project show': { reads: () => 'default' },
  'project set': {
    auditAction: 'project.update',
    run: () => 'kiosk --retention-days 30 --store-crops off',
  },
  'project delete': {
    auditAction: 'project.delete',
    testedIn: 'gate/project-deletion.test.ts',
  },
  'key create': { auditAction: 'key.create', run: () => '--project kiosk' },
  'key list': { reads: () => '' },
  'key routes': { reads: () => '--to b' },
  'key rotate': { auditAction: 'key.rotate', run: ({ key }) => key },
  'key revoke': { auditAction: 'key.revoke', run: ({ key }) => key },
  'key create-master': { withoutDatabase: 'writes a file that no server uses yet' },
  'key add-master': { auditAction: 'masterKey.add', run: () => '' },
  'key rotate-master': { auditAction: 'masterKey.rotate', run: () => '--prepared' },
  'console link': { auditAction: 'session.createSetupLink', run: () => '' },
  open: { auditAction: 'session.createSetupLink', run: () => '' },
  'wallet top-up': { auditAction: 'money.topUp', run: () => '--amount 5000' },
  'wallet show': { reads: () => '' },
  'budget allocate': { auditAction: 'money.allocate', run: () => '--project kiosk --amount 500' },
  'budget show': { reads: () => '--project kiosk' },
  'price set': { auditAction: 'money.setPrice', run: () => 'svc.detect --unit 5' },
  'price show': { reads: () => '' },
  log: { reads: () => '' },
  'ledger verify': { reads: () => '' },
  'webhook create': {
    auditAction: 'webhook.create',
    run: () => '--project kiosk --url https://webhook.invalid',
  },
  'webhook list': { reads: () => '' },
  'webhook test': { auditAction: 'webhook.test', testedIn: 'webhooks/operators.test.ts' },
  'webhook deliveries': { reads: ({ webhook }) => webhook },
  'webhook redeliver': { auditAction: 'webhook.redeliver', testedIn: 'webhooks/operators.test.ts' },
  'webhook rotate-secret': { auditAction: 'webhook.rotateSecret', run: ({ webhook }) => webhook },
  'webhook delete': { auditAction: 'webhook.delete', run: ({ webhook }) => webhook },
  'subject list': { reads: () => '--project default' },
  'subject show': { reads: () => 'audited --project default' },
  'subject export': {
    auditAction: 'subject.export',
    run: ({ copy }) => `audited --project default --out ${copy}.subject.json`,
  },
  'subject merge': {
    auditAction: 'subject.merge',
    run: () => 'audited-again --into audited --project default',
  },
  'subject merges': { reads: () => '--project default' },
  'subject unmerge': {
    auditAction: 'subject.undoMerge',
    run: ({ merge }) => `${merge} --project default`,
  },
  'subject distinct': {
    auditAction: 'subject.setDistinct',
    run: () => 'audited audited-again --project default',
  },
  'subject delete': { auditAction: 'subject.delete', run: () => 'audited --project default' },
  'feedback show': { reads: () => '' },
  'feedback confirm': { auditAction: 'match.decide', testedIn: 'cli/feedback.test.ts' },
  'feedback deny': { auditAction: 'match.decide', testedIn: 'cli/feedback.test.ts' },
  'gallery check': { reads: () => '--project kiosk' },
  'models install': { auditAction: 'models.install', run: ({ pack }) => pack },
  'models qualify': { auditAction: 'models.install', testedIn: 'models/qualify.test.ts' },
  'models list': { reads: () => '' },
  'models prepare': { withoutDatabase: 'converts the built-in models' },
  'models verify': { reads: () => '' },
  'models use': { auditAction: 'models.use', run: () => 'mine' },
  'models status': { reads: () => '' },
  'models retire': {
    auditAction: 'models.retire',
    run: ({ builtinModel }) => `${builtinModel} --confirm ${builtinModel}`,
  },
  'models remove': { auditAction: 'models.remove', run: () => 'spare' },
  calibrate: {
    auditAction: 'calibration.apply',
    testedIn: 'gallery/calibration/gallery-calibration.test.ts',
  },
  'evaluate verification': { withoutDatabase: 'reads images' },
  'evaluate detection': { withoutDatabase: 'reads images' },
  'evaluate liveness': { withoutDatabase: 'reads images' },
  'evaluate attributes': { withoutDatabase: 'reads images' },
  backup: { auditAction: 'database.backup', run: ({ copy }) => `--to ${copy}.second` },
  'deletions verify': { reads: ({ certificate }) => certificate },
  'deletions export': { reads: ({ records }) => `--to ${records}` },
  'support-bundle': { auditAction: 'system.supportBundle', run: ({ copy }) => `--to ${copy}.json` },
  restore: {
    auditAction: 'database.restore',
    in: 'restored',
    run: ({ copy }) => `--from ${copy} --deletions none`,
  },
  'deletions replay': {
    auditAction: 'deletions.replay',
    in: 'restored',
    run: ({ records }) => `--from ${records}`,
  },
  size: { withoutDatabase: 'computes figures' },
  migrate: { auditAction: 'database.migrate', testedIn: 'operations/sqlite-to-postgres.test.ts' },
}

function runnableCommands(of: readonly CliCommand[], parent: readonly string[] = []): string[] {
  return of.flatMap((command) => {
    const names = [...parent, command.name]
    return command.commands.length > 0
      ? runnableCommands(command.commands, names)
      : [names.join(' ')]
  })
}

/** Returns the entries of the audit log in their order. */
async function entriesIn(folder: string) {
  await using store = await openDisposable(folder)
  return await store.db.selectFrom('auditLog').selectAll().orderBy('auditId').execute()
}

describe('changes of the command line in the audit log', () => {
  let dataDir: string
  let models: ModelsCli
  let values: Values
  let restoredDir: string
  let entriesOfCopy: Awaited<ReturnType<typeof entriesIn>>
  before(async () => {
    models = await startModelsCli()
    dataDir = await createDataFolder()
    restoredDir = path.join(models.folder, 'restored')
    await mkdir(restoredDir)
    const files = { 'net.onnx': smallNetwork(16), ...recognizerFiles }
    await run('models install', await models.writePack('spare'))
    const pack = await models.writePack(
      'mine',
      [smallRecognizer('net', calibratedRecognizer)],
      files,
    )
    const { modelId: builtinModel } = await readTemplateModel()
    const copy = path.join(models.folder, 'copy.db')
    const records = path.join(models.folder, 'deletions.jsonl')
    const certificate = path.join(models.folder, 'certificate.json')
    const given = { pack, builtinModel, copy, records, certificate }
    values = { key: '', webhook: '', merge: '', ...given }
  })
  after(async () => {
    await rm(dataDir, { recursive: true, force: true })
    await models?.[Symbol.asyncDispose]()
  })

  async function run(name: string, line: string, folder = dataDir): Promise<string[]> {
    const { command, rest } = findCommand(commands, [...name.split(' '), ...line.split(' ')])
    assert.ok(command, name)
    return runLines(folder, command, rest.filter(Boolean).join(' '))
  }

  test('every declared command is listed here with its entry, or as one that changes nothing', () => {
    assert.deepEqual(Object.keys(declared).toSorted(), runnableCommands(commands).toSorted())
    for (const expected of Object.values(declared))
      if ('auditAction' in expected)
        assert.ok(expected.auditAction in auditActions, expected.auditAction)
  })

  test('each change writes one entry with the actor "command line", and other commands none', async () => {
    await addSubjects()
    for (const [name, expected] of Object.entries(declared)) {
      if ('run' in expected) await assertEntry(name, expected)
      else if ('reads' in expected) await assertUnchanged(name, expected)
    }
  })

  /** Enrolls and deletes with a service that ends: a running one changes the database by itself. */
  async function addSubjects(): Promise<void> {
    await using gallery = await startGallery({ dataDir })
    const { subjectId } = await gallery.value('svc.enroll', imageParams('Ada'))
    // The entry of a backup is written after the copy.
    entriesOfCopy = await entriesIn(dataDir)
    await run('backup', `--to ${values.copy}`)
    await copyFile(path.join(dataDir, 'master.key'), path.join(restoredDir, 'master.key'))
    const { deletionId, tenantId } = await gallery.value('svc.deleteSubject', { subjectId })
    const { store } = gallery.database
    const record = { store, dataDir, deletionId, accountId: tenantId }
    await signDeletion(values.certificate, record)
    await gallery.value('svc.enroll', { ...imageParams('Ben'), externalId: 'audited' })
    await gallery.value('svc.enroll', { ...imageParams('Cat'), externalId: 'audited-again' })
  }

  async function assertEntry(name: string, write: Write): Promise<void> {
    const folder = write.in ? restoredDir : dataDir
    const before = name === 'restore' ? entriesOfCopy : await entriesIn(folder)
    const lines = await run(name, `${write.run(values)} --json`, folder)
    const all = await entriesIn(folder)
    const added = all.slice(before.length)
    assert.deepEqual(
      added.map(({ auditAction, userId, userName, ip }) => [auditAction, userId, userName, ip]),
      [[write.auditAction, null, 'command line', '']],
      name,
    )
    assert.equal(JSON.parse(added[0]?.detail ?? '').osUser, userInfo().username, name)
    const printed = JSON.parse(lines.at(-1) ?? '{}')
    for (const secret of [printed.key, printed.secret, printed.link?.split('#')[1]])
      if (typeof secret === 'string') assert.ok(!JSON.stringify(added).includes(secret), name)
    values = {
      ...values,
      ...(name === 'key create' && { key: printed.keyId }),
      ...(name === 'webhook create' && { webhook: printed.webhookId }),
      ...(name === 'subject merge' && { merge: printed.mergeId }),
    }
  }

  async function assertUnchanged(name: string, { reads }: Read): Promise<void> {
    const before = await contentOf(dataDir)
    await run(name, reads(values))
    assert.deepEqual(await contentOf(dataDir), before, `${name} changes the database`)
  }

  test('the entries that other files test are named there', async () => {
    for (const [name, expected] of Object.entries(declared)) {
      if (!('testedIn' in expected)) continue
      const text = await readFile(path.join(rootDir, 'test', expected.testedIn), 'utf8')
      const [, verb = ''] = expected.auditAction.split('.')
      assert.ok(text.includes(expected.auditAction) || text.includes(`'${verb}'`), name)
    }
  })

  test('a change that fails leaves no entry', async () => {
    const before = await entriesIn(dataDir)
    await assert.rejects(run('budget allocate', '--project kiosk --amount 99999999999999'))
    await assert.rejects(run('key revoke', 'none'), /there is no key none/u)
    await assert.rejects(run('models remove', 'none'), /not installed/u)
    assert.deepEqual(await entriesIn(dataDir), before)
  })
})
