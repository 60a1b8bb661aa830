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
import { findProject } from '../../src/store/tenancy/projects.ts'
import { contentOf, openDisposable } from '../support/database/table-content.ts'
import { createDataFolder } from '../support/database/data-folder.ts'
import { signDeletion } from '../support/database/sign-deletion.ts'
import { imageParams, startGallery } from '../support/gallery/test-gallery.ts'
import {
  auditedCommands,
  type CommandInputs,
  type Read,
  type Write,
} from '../support/cli/audited-commands.ts'
import { runLines } from '../support/cli/run-json.ts'
import {
  calibratedRecognizer,
  recognizerFiles,
  startModelsCli,
  type ModelsCli,
} from '../support/models/models-cli.ts'
import { smallNetwork, smallRecognizer } from '../support/models/small-network.ts'
import { rootDir } from '../support/paths.ts'

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
  let values: CommandInputs
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
    values = { key: '', visitor: '', webhook: '', merge: '', ...given }
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
    assert.deepEqual(Object.keys(auditedCommands).toSorted(), runnableCommands(commands).toSorted())
    for (const expected of Object.values(auditedCommands))
      if ('auditAction' in expected)
        assert.ok(expected.auditAction in auditActions, expected.auditAction)
  })

  test('each change writes one entry with the actor "command line", and other commands none', async () => {
    await addSubjects()
    for (const [name, expected] of Object.entries(auditedCommands)) {
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
    const { projectId = '' } = (await findProject(store.db, 'default')) ?? {}
    const owner = { accountId: tenantId, projectId, galleryId: `${projectId}:visitors` }
    const visitor = await store.write((tx) =>
      gallery.openedGallery.subjects.create(tx, owner, { visitCount: 1, withoutFaces: true }),
    )
    values = { ...values, visitor: visitor.subjectId }
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
    for (const [name, expected] of Object.entries(auditedCommands)) {
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
