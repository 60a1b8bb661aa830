import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { backup, deletions } from '../../src/cli/database/commands.ts'
import { subjectCommands } from '../../src/cli/subject/commands.ts'
import { keyCommands, project } from '../../src/cli/tenancy/commands.ts'
import { runJson } from '../support/cli/run-json.ts'
import { imageParams, startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'
import { assertLedgerAudit } from '../support/gate/test-gate.ts'
import { postgresSkipReason, sharedPostgresServer } from '../support/database/postgres-server.ts'

const skip = postgresSkipReason ?? hasDump()

async function isFound(gallery: TestGallery, name: string): Promise<boolean> {
  return (await gallery.value('svc.identify', imageParams(name))).matched
}

/** pg_dump is in the client package, which may be missing on a machine with a server. */
function hasDump(): string | false {
  try {
    execFileSync('pg_dump', ['--version'])
    execFileSync('pg_restore', ['--version'])
    return false
  } catch {
    return 'pg_dump and pg_restore are not installed here'
  }
}

test(
  'A server on a database restored from a dump deletes subjects again before it serves calls',
  { skip },
  async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'facegate-dump-'))
    const [dump, records] = [path.join(folder, 'dump'), path.join(folder, 'deletions.jsonl')]
    const server = await sharedPostgresServer()
    await using database = await server.createDatabase()
    await using restored = await server.createDatabase()
    const environment = { DATABASE_URL: database.url }
    const dataDir = path.join(folder, 'data')
    const admin = (name: string): string =>
      Object.assign(new URL(server.adminUrl), { pathname: name }).href
    let key: string
    let before: unknown
    let mergeId: string
    {
      await using gallery = await startGallery({ dataDir, environment })
      key = gallery.key
      const enroll = async (name: string): Promise<{ subjectId: string }> => {
        const { subjectId } = await gallery.value('svc.enroll', imageParams(name))
        return { subjectId }
      }
      const late = await enroll('Late')
      await enroll('Stays')
      const [target, merged] = [await enroll('Target'), await enroll('Merged')]
      const [{ projectId }] = await runJson(dataDir, project, 'list', environment)
      const run = (line: string) =>
        runJson(dataDir, subjectCommands, `${line} --project ${projectId}`, environment)
      mergeId = (await run(`merge ${merged.subjectId} --into ${target.subjectId}`)).mergeId
      await assert.rejects(
        runJson(dataDir, backup, `--to ${dump}`, environment),
        /the tools of PostgreSQL/u,
      )
      const dumpAsService = () =>
        execFileSync('pg_dump', ['-Fc', '-f', dump, database.url], { stdio: 'pipe' })
      assert.throws(
        dumpAsService,
        /row-level security|row security/u,
        'the role cannot see all rows',
      )
      execFileSync('pg_dump', ['-Fc', '-f', dump, admin(database.name)])
      await gallery.value('svc.deleteSubject', late)
      await gallery.value('svc.deleteSubject', await enroll('Brief'))
      const { subjectId } = await run(`unmerge ${mergeId}`)
      await gallery.value('svc.deleteSubject', { subjectId })
      const exported = await runJson(dataDir, deletions, `export --to ${records}`, environment)
      assert.deepEqual(exported, { added: 4, records: 4 })
      before = (await gallery.rest('GET', '/v1/deletions')).body.items
    }
    assert.ok((await stat(dump)).size > 0)
    execFileSync('pg_restore', [
      '--exit-on-error',
      '--no-comments',
      '-d',
      admin(restored.name),
      dump,
    ])
    const restoredEnvironment = {
      DATABASE_URL: restored.url,
      DELETIONS_FILE: records,
      MASTER_KEY_FILE: path.join(dataDir, 'master.key'),
    }
    const absent = { ...restoredEnvironment, DELETIONS_FILE: `${records}.absent` }
    await assert.rejects(startGallery({ dataDir, key, environment: absent }), /ENOENT/u)
    {
      // Both servers start on the restored database and replay the deletions.
      const starting = ['data', 'other'].map((name) =>
        startGallery({
          dataDir: path.join(folder, name),
          key,
          environment: restoredEnvironment,
        }),
      )
      const [gallery, other] = await Promise.all(starting)
      assert.ok(gallery && other)
      await using _both = new AsyncDisposableStack()
      _both.use(gallery)
      _both.use(other)
      for (const [name, isEnrolled] of Object.entries({ Late: false, Brief: false, Stays: true })) {
        assert.equal(await isFound(gallery, name), isEnrolled, name)
        assert.equal(await isFound(other, name), isEnrolled, name)
      }
      assert.deepEqual((await gallery.rest('GET', '/v1/deletions')).body.items, before)
      await assertLedgerAudit(gallery)
    }
    const replayed = await runJson(
      dataDir,
      deletions,
      `replay --from ${records}`,
      restoredEnvironment,
    )
    assert.deepEqual(replayed, {
      records: 4,
      skipped: 0,
      inserted: 0,
      deletedAgain: 0,
      // The start inserted its record and reported it.
      undoneMerges: [mergeId],
      incompleteBytes: 0,
    })
    // After a key rotation of the original database, the copy cannot be decrypted any more.
    await runJson(dataDir, keyCommands, 'rotate-master', environment)
    const startAfterRotation = startGallery({ dataDir, key, environment: restoredEnvironment })
    await assert.rejects(startAfterRotation, /master key .* is not in/u)
    await rm(folder, { recursive: true })
  },
)
