import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSetupLink } from '../../src/console/auth/setup.ts'
import { assertOk, createConsoleClient, validPassword } from '../support/console/test-console.ts'
import { postgresSkipReason } from '../support/database/postgres-server.ts'
import { createTestClient } from '../support/facegate/test-client.ts'
import { createGalleryClient, imageParams } from '../support/gallery/test-gallery.ts'
import { countRowsOf } from '../support/gate/project-rows.ts'
import { assertLedgerAudit } from '../support/gate/test-gate.ts'
import { sharedGalleryNodes } from '../support/nodes/test-nodes.ts'
import { closeSharedServices } from '../support/shared-service.ts'

const sendersPerNode = 4
const earlierCalls = 60
/** The calls of each sender after the deletion. */
const laterCalls = 4

after(closeSharedServices)

test(
  'A project is deleted while both nodes process its calls: no data is left, and each call is charged once or rejected',
  { skip: postgresSkipReason ?? false },
  async (t) => {
    const { a, b, local } = await sharedGalleryNodes()
    const { store } = local.database
    const token = await store.write((tx) => createSetupLink(tx, null, Date.now()))
    const owner = createConsoleClient(a.client.url)
    assertOk(await owner.send('POST', '/setup', { token, name: 'Olga', password: validPassword }))
    const settings = { name: 'busy', galleryMode: 'isolated' }
    const { projectId } = assertOk(await owner.send('POST', '/projects', settings)).body
    const amountMicros = '500000000'
    assertOk(await owner.send('POST', '/money/top-up', { amountMicros }))
    assertOk(await owner.send('POST', '/money/allocate', { projectId, amountMicros }))
    const { key } = assertOk(
      await owner.send('POST', '/keys', { projectId, name: 'busy', permissions: ['*'] }),
    ).body

    let deletedMs = Infinity
    const charged: string[] = []
    const statuses = new Map<number, number>()
    const sendCalls = async (url: string, sender: number): Promise<void> => {
      const client = createGalleryClient(createTestClient(url, key))
      for (let later = 0, call = 0; later < laterCalls; call++) {
        const isLater = performance.now() > deletedMs
        if (isLater) later++
        const action = call % 2 === 0 ? 'svc.enroll' : 'svc.detect'
        const requestId = randomUUID()
        const image = imageParams(`Person ${sender} ${call}`)
        const { status, body } = await client.call(action, image, { requestId })
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        if (isLater) assert.equal(status, 401)
        if (status === 200 && body.ok) charged.push(requestId)
      }
    }
    const sending = [a, b].flatMap(({ client }, node) =>
      Array.from({ length: sendersPerNode }, (_, index) =>
        sendCalls(client.url, node * sendersPerNode + index),
      ),
    )
    while (charged.length < earlierCalls) await sleep(10)
    const deleted = await owner.send('DELETE', `/projects/${projectId}`, { confirm: 'busy' })
    deletedMs = performance.now()
    await Promise.all(sending)
    const { body } = assertOk(deleted)
    t.diagnostic(`statuses of the calls: ${JSON.stringify([...statuses])}`)

    const transfers = store.db.selectFrom('ledgerTransfers').where('projectId', '=', projectId)
    const charges = await transfers
      .select(['requestId', 'amountMicros'])
      .where('kind', '=', 'charge')
      .execute()
    assert.deepEqual(charges.map(({ requestId }) => requestId ?? '').toSorted(), charged.toSorted())
    const spentMicros = charges.reduce((sum, charge) => sum + charge.amountMicros, 0n)
    assert.equal(BigInt(body.returnedMicros), BigInt(amountMicros) - spentMicros)
    assert.deepEqual(new Set(Object.values(await countRowsOf(store, projectId))), new Set([0]))
    await assertLedgerAudit(local)
  },
)
