import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { enrollPerson } from '../subjects/enroll-person.ts'
import { personPicture } from '../subjects/person-pictures.ts'
import { addWorseCamera } from '../worse-camera.ts'
import { accept, respondWith, type WebhookReceiver } from '../../webhooks/webhook-receiver.ts'
import type { ConsoleBrowser } from './console-browser.ts'
import type { Hands } from './hands.ts'

/** How the owner of a working day uses the console. */
export type DayTools = {
  readonly browser: ConsoleBrowser
  readonly hands: Hands
  readonly isPhone: boolean
  /** Opens a page through the navigation. */
  readonly open: (title: string) => Promise<void>
  readonly inspect: (what: string) => Promise<void>
}

const buttonOf = (within: Pick<Page, 'getByRole'>, name: string | RegExp) =>
  within.getByRole('button', { name, exact: typeof name === 'string' })

/** Searches for a person who is not enrolled, and reads in the log why the person did not match. */
export async function explainRefusedPerson(tools: DayTools): Promise<void> {
  const { browser, hands, isPhone, open, inspect } = tools
  const { page, testConsole } = browser
  const bytes = (await personPicture({ name: 'Yves' })).toString('base64')
  const images = [{ kind: 'image', contentType: 'image/jpeg', bytes }]
  await testConsole.gallery.value('svc.identify', { images })
  await open('Request log')
  if (isPhone) await hands.press(buttonOf(page, /^Filters/u))
  await hands.choose(page.getByRole('combobox', { name: 'Outcome' }), 'no match')
  await page.waitForURL(/outcome=no_match/u)
  await page.getByText(/^1 rows? on this page/u).waitFor()
  await hands.press(buttonOf(page, /^Open svc.identify/u))
  const drawer = page.getByRole('dialog')
  await drawer.getByText(/^0\.\d{3} < 0\.80$/u).waitFor()
  await drawer.getByText(/^\d+ of 100$/u).waitFor()
  await drawer.getByRole('link', { name: 'Try in the playground' }).waitFor()
  await inspect('log-refused')
  await page.keyboard.press('Escape')
  await drawer.waitFor({ state: 'detached' })
  await hands.press(buttonOf(page, 'Clear filters'))
}

/** Creates a webhook, reads why its test event fails, and sees that it is repaired. */
export async function repairWebhook(tools: DayTools, receiver: WebhookReceiver): Promise<void> {
  const { browser, hands, open, inspect } = tools
  const { page } = browser
  const dialog = page.getByRole('dialog')
  receiver.respond(respondWith(503))
  await open('Webhooks')
  await hands.press(buttonOf(page, 'Create webhook').first())
  await hands.type(dialog.getByLabel('URL'), `${receiver.url}/day`)
  await hands.choose(dialog.getByRole('combobox', { name: 'Project' }), 'default')
  await hands.press(buttonOf(dialog, 'Create webhook'))
  await hands.press(dialog.getByLabel('I have copied it'))
  await hands.press(buttonOf(dialog, 'Done'))
  await hands.press(buttonOf(page, /^Open http/u))
  await hands.press(buttonOf(dialog, 'Send test event'))
  await dialog.getByText('Test event not delivered').waitFor()
  await dialog.getByText('status 503.').waitFor()
  await inspect('webhook')
  receiver.respond(accept)
  await hands.press(buttonOf(dialog, 'Send test event'))
  await dialog.getByText('Test event delivered').waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
}

/** Finds the key whose camera became worse, from the alert to its weeks. */
export async function findWorseCamera({ browser, hands, open, inspect }: DayTools): Promise<void> {
  const { page, testConsole } = browser
  const name = await addWorseCamera(testConsole)
  await open('Overview')
  const alert = page.getByRole('note').filter({ hasText: 'Calls without a face rose' })
  await hands.press(alert.getByRole('link', { name: 'View cameras' }))
  const weeks = page.getByRole('table', { name: 'Calls without a face by key and week' })
  const row = weeks.getByRole('row').filter({ hasText: name })
  await row.getByText(/^Calls without a face rose from/u).waitFor()
  await inspect('cameras')
}

/** Checks a gallery, merges two subjects of one person, and undoes the merge. */
export async function mergeDuplicate({ browser, hands, open, inspect }: DayTools): Promise<void> {
  const { page, testConsole } = browser
  const subjects = `/projects/${testConsole.projectId}/subjects`
  const templatesOf = async () => {
    const { items } = (await testConsole.owner.get(`${subjects}?q=Ada`)).body
    return items.map((item: { readonly embeddingCount: number }) => item.embeddingCount)
  }
  await enrollPerson(testConsole, 'Ada L.', [{ name: 'Ada' }])
  await open('Gallery health')
  await hands.press(buttonOf(page, 'Check the gallery'))
  await page.getByText(/: \d+ people, \d+ pictures, threshold/u).waitFor()
  await page.getByText('Duplicates', { exact: true }).click()
  await hands.press(buttonOf(page, /^Same person: Ada/u))
  const dialog = page.getByRole('dialog')
  await dialog.getByText(/^Moved to Ada/u).waitFor()
  await hands.press(buttonOf(dialog, 'Merge'))
  await page.getByText('No possible duplicates').waitFor()
  assert.deepEqual(await templatesOf(), [2])
  await page.getByText('Decisions', { exact: true }).click()
  await inspect('merged')
  await hands.press(buttonOf(page, /^Undo the merge into Ada/u))
  await page.getByText('No merges of the last 30 days').waitFor()
  assert.deepEqual(await templatesOf(), [1, 1])
}

/** Sorts the calls of a day by latency, and reloads the page, which keeps its period. */
export async function sortLog({ browser, hands, isPhone, open }: DayTools): Promise<void> {
  const { page } = browser
  const rowCount = page.getByText(/rows on this page, \d+ in total/u)
  await open('Request log')
  await rowCount.waitFor()
  if (isPhone) await hands.press(buttonOf(page, /^Filters/u))
  await hands.choose(page.getByRole('combobox', { name: 'Period' }), 'Last 24 hours')
  await page.waitForURL(/period=24h/u)
  if (!isPhone) {
    await hands.press(buttonOf(page, /^Latency/u))
    await page.waitForURL(/sort=-latency/u)
  }
  await page.reload()
  await rowCount.waitFor()
  assert.equal(new URL(page.url()).searchParams.get('period'), '24h')
}

/** Downloads a support bundle from the page of the system. It contains none of the secrets. */
export async function downloadBundle(
  { browser, hands, open, inspect }: DayTools,
  secrets: readonly string[],
): Promise<void> {
  const { page, testConsole } = browser
  await testConsole.gallery.systemMonitor.store()
  await open('System')
  await page
    .getByRole('heading', { name: /^Memory/u })
    .first()
    .waitFor()
  const download = page.waitForEvent('download')
  await hands.press(buttonOf(page, 'Download support bundle'))
  const bundle = await readFile(await (await download).path(), 'utf8')
  assert.ok(bundle.includes('"version"'))
  for (const secret of secrets) assert.ok(secret !== '' && !bundle.includes(secret))
  await inspect('system')
}
