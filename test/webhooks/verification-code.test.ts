import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import {
  verifyWebhook,
  WebhookSignatureError,
  type WebhookToVerify,
} from '../../client/src/webhooks/verify-webhook.ts'
import { sign } from '../../src/webhooks/deliver.ts'
import { rootDir } from '../support/paths.ts'

const secret = 'whsec_example'
const nowMs = Date.now()
const body = JSON.stringify({ id: 'evt_1', type: 'webhook.test', data: { text: 'Zoë' } })

/** Requests that must be accepted (true) or rejected. */
const cases: readonly (readonly [title: string, signature: string, isValid: boolean])[] = [
  ['one secret', sign(body, [secret], nowMs), true],
  ['the second of two secrets', sign(body, ['whsec_new', secret], nowMs), true],
  ['an unknown later scheme', `${sign(body, [secret], nowMs)},v2=abc`, true],
  ['another secret', sign(body, ['whsec_other'], nowMs), false],
  ['another body', sign(`${body} `, [secret], nowMs), false],
  ['another time', sign(body, [secret], nowMs).replace(/^t=\d+/u, 't=1700000000'), false],
  ['an old request', sign(body, [secret], nowMs - 302_000), false],
  ['a request of the future', sign(body, [secret], nowMs + 360_000), false],
  ['no signature', `t=${Math.floor(nowMs / 1000)}`, false],
  ['no time', sign(body, [secret], nowMs).replace(/^t=\d+,/u, ''), false],
  ['an empty header', '', false],
]

test('verifyWebhook of the client accepts signed, recent requests only', async () => {
  for (const [title, signature, isValid] of cases) {
    const verified = verifyWebhook({ body, signature, secret, nowMs })
    if (isValid) assert.equal((await verified).id, 'evt_1', title)
    else await assert.rejects(verified, WebhookSignatureError, title)
  }
  const signature = sign(body, [secret], nowMs)
  const bytes = new TextEncoder().encode(body)
  const secrets = ['whsec_old', secret]
  // `request.arrayBuffer()` of the Fetch API returns an ArrayBuffer.
  for (const raw of [bytes, Uint8Array.from(bytes).buffer])
    assert.equal((await verifyWebhook({ body: raw, signature, secret: secrets })).id, 'evt_1')
  const late = { body, signature, secret, nowMs: nowMs + 3_000_000 }
  await assert.rejects(verifyWebhook(late), WebhookSignatureError)
  assert.equal((await verifyWebhook({ ...late, toleranceS: 4000 })).id, 'evt_1')
})

test('The Python code of the documentation gives the same results', (t) => {
  const page = readFileSync(path.join(rootDir, 'docs/reference/webhooks.md'), 'utf8')
  const code = /```python[^\n]*\n(.*?)```/su.exec(page)?.[1] ?? ''
  const program = `${code}
import sys
for signature in json.load(sys.stdin)["signatures"]:
    try:
        print(verify_webhook(${JSON.stringify(body)}.encode(), signature, "${secret}")["id"])
    except ValueError:
        print("rejected")
`
  const input = JSON.stringify({ signatures: cases.map(([, signature]) => signature) })
  let printed: string
  try {
    printed = execFileSync('python3', ['-c', program], { input, encoding: 'utf8' })
  } catch (error) {
    if ((error as { readonly code?: string }).code !== 'ENOENT') throw error
    return t.skip('python3 is not installed')
  }
  const expected = cases.map(([, , isValid]) => (isValid ? 'evt_1' : 'rejected'))
  assert.deepEqual(printed.trim().split('\n'), expected)
})

test('verifyWebhook explains a parsed body and a missing secret', async () => {
  const signature = `t=1,v1=${'0'.repeat(64)}`
  const views = [new DataView(new ArrayBuffer(2)), new Uint16Array(1)]
  const verify = (body: unknown, secret: unknown) =>
    verifyWebhook({ body, signature, secret } as WebhookToVerify)
  for (const body of [...views, { type: 'budget.low' }, null, undefined, [1, 2]])
    await assert.rejects(verify(body, 'whsec_1'), {
      name: 'TypeError',
      message: /^body: must be the raw bytes or the text of the request, before it is parsed/u,
    })
  for (const secret of ['', [], ['whsec_1', ''], undefined, null])
    await assert.rejects(verify('{}', secret), {
      name: 'TypeError',
      message: /^secret: must be the signing secret of the webhook, and is empty or no text$/u,
    })
})

test('verifyWebhook refuses a tolerance or a time that is no number, also for an old request', async () => {
  const old = { body, signature: sign(body, [secret], nowMs - 3_000_000), secret }
  for (const toleranceS of [Number.NaN, -1, '300', null])
    await assert.rejects(verifyWebhook({ ...old, toleranceS } as WebhookToVerify), {
      name: 'TypeError',
      message: 'toleranceS: must be a number of seconds, 0 or more',
    })
  await assert.rejects(verifyWebhook({ ...old, nowMs: Number.NaN }), WebhookSignatureError)
})
