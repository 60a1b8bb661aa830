import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { endUserSessions } from '../../../src/store/console/sessions.ts'
import { skipWithoutBrowser } from '../../support/console/browser/chromium.ts'
import { authenticatorCode, timeStepMs } from '../../support/console/browser/authenticator.ts'
import {
  openConsoleBrowser,
  type ConsoleBrowser,
} from '../../support/console/browser/console-browser.ts'
import { inspectDialog } from '../../support/console/browser/inspect-page.ts'
import { sequentialTests } from '../../support/console/browser/sequential-tests.ts'
import { assertOk, validPassword, type ConsoleClient } from '../../support/console/test-console.ts'
import { imageParams } from '../../support/gallery/test-gallery.ts'

const dayMs = 86_400_000
const password = validPassword
const offlineText = 'You are offline, so nothing was sent. Your input is kept.'

describe('Confirmations and errors of the console', { skip: skipWithoutBrowser }, () => {
  let browser: ConsoleBrowser
  let page: Page
  let dialog: Locator
  let owner: ConsoleClient
  let member: ConsoleClient
  let ownerId = ''
  let projectPath = ''
  const clock = { nowMs: Date.now() }
  const step = sequentialTests()
  const inspect = (name: string) => inspectDialog(page, browser.driver, name)

  before(async () => {
    browser = await openConsoleBrowser({ clock: () => clock.nowMs })
    page = browser.page
    owner = browser.testConsole.owner
    member = await browser.testConsole.inviteMember('viewer')
    dialog = page.getByRole('dialog')
    ownerId = (await owner.get('/session')).body.user.userId
    projectPath = `/projects/${browser.testConsole.projectId}`
    assertOk(await owner.send('PATCH', projectPath, { switches: { storeCrops: true } }))
    await enroll('Ada', { displayName: 'Ada Lovelace', groups: ['a'] })
    for (const [person, group] of [
      ['Bob', 'b'],
      ['Cleo', 'c'],
    ] as const)
      await enroll(person, { groups: [group] })
  })
  after(() => browser?.[Symbol.asyncDispose]())

  step('The focus returns after a dialog, and after a deletion to the next row', async () => {
    await browser.goto('/groups')
    const open = page.getByRole('button', { name: 'Delete subjects: b' })
    await open.focus()
    await page.keyboard.press('Enter')
    await dialog.getByText('Kept in the deletion ledger, permanently').waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await waitForFocus(page, 'Delete subjects: b')
    await page.keyboard.press('Enter')
    await dialog.getByLabel(/to confirm$/u).fill('b')
    await page.keyboard.press('Enter')
    await open.waitFor({ state: 'detached' })
    await waitForFocus(page, 'Open group c')
  })

  step('The playground shows the subject and its faces before it deletes them', async () => {
    await browser.goto('/playground?action=svc.deleteSubject')
    const { items } = assertOk(await owner.get(`${projectPath}/subjects?q=Ada`)).body
    const run = page.getByRole('button', { name: 'Run svc.deleteSubject' })
    const idField = page.getByRole('textbox', { name: 'subjectId' })
    await idField.fill('00000000-0000-4000-8000-000000000000')
    await run.click()
    await dialog.getByText('The gallery has no subject with this id.').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await idField.fill(items[0].subjectId)
    await run.click()
    await dialog.getByText('1 template', { exact: true }).waitFor()
    await dialog.getByText('no image, template, display name or attribute').waitFor()
    const remove = dialog.getByRole('button', { name: 'Delete permanently' })
    await dialog.getByLabel(/to confirm$/u).fill('Ada')
    assert.ok(await remove.isDisabled(), 'a part of the name is not enough')
    await inspect('confirm-delete-subject')
    await dialog.getByLabel(/to confirm$/u).fill('Ada Lovelace')
    const sent: string[] = []
    page.on('request', (request) => void (request.method() === 'POST' && sent.push(request.url())))
    await Promise.all([page.getByText('Subject deleted').waitFor(), remove.dblclick()])
    assert.equal(sent.length, 1, 'a double click sends one call')
    assert.equal((await owner.get(`${projectPath}/subjects?q=Ada`)).body.items.length, 0)
  })

  step('A shorter retention counts the subjects, and can be undone', async () => {
    assertOk(await owner.send('PATCH', projectPath, { retentionDays: 300 }))
    await makeSubjectsOlder(browser, 20 * dayMs)
    await browser.goto(projectPath)
    const days = page.getByLabel('Subject retention (days)')
    await days.fill('10')
    await page.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('1 subject', { exact: true }).waitFor()
    await dialog.getByText(/from 300 to 10 days.*runs every 60 seconds/su).waitFor()
    await inspect('confirm-retention')
    await dialog.getByLabel(/to confirm$/u).fill('default')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    assert.equal((await owner.get(projectPath)).body.retentionDays, 10)
    await Promise.all([
      page.getByText('The earlier settings apply again.').waitFor(),
      page.getByRole('button', { name: 'Undo' }).click(),
    ])
    assert.equal((await owner.get(projectPath)).body.retentionDays, 300)
    assert.equal(await days.inputValue(), '300')
  })

  step('Switching crops off counts them, and counts again when there are more', async () => {
    await page.getByRole('switch', { name: 'Store crops' }).click({ force: true })
    await dialog.getByText('1 stored crop', { exact: true }).waitFor()
    await enroll('Dan', {})
    await dialog.getByLabel(/to confirm$/u).fill('default')
    await dialog.getByRole('button', { name: 'Delete the crops' }).click()
    await dialog.getByText('would delete 2 stored crops, but 1 were confirmed').waitFor()
    await dialog.getByText('2 stored crops', { exact: true }).waitFor()
    await inspect('confirm-crops')
    await Promise.all([
      page.getByText('Crops are no longer stored. Deleted: 2 stored crops.').waitFor(),
      dialog.getByRole('button', { name: 'Delete the crops' }).click(),
    ])
  })

  step('A large top-up is typed twice, and an error is shown once, at its field', async () => {
    await browser.goto('/money')
    await page.getByRole('button', { name: 'Top up' }).click()
    await dialog.getByLabel(/^Amount/u).fill('0')
    await dialog.getByRole('button', { name: 'Add credit' }).click()
    await dialog.getByText('Enter an amount above 0').waitFor()
    await dialog.getByLabel(/^Amount/u).fill('2000')
    await dialog.getByLabel(/^Type the amount again/u).fill('200')
    await dialog.getByRole('button', { name: 'Add credit' }).click()
    await dialog.getByText('Type the same amount again', { exact: true }).waitFor()
    await inspect('confirm-top-up')
    await dialog.getByLabel(/^Type the amount again/u).fill('2000.00')
    await dialog.getByRole('button', { name: 'Add credit' }).click()
    await dialog.waitFor({ state: 'detached' })
    await browser.goto('/projects')
    await page.getByRole('button', { name: 'Create project' }).click()
    await dialog.getByLabel('Name').fill('default')
    await dialog.getByRole('button', { name: 'Create project' }).click()
    await dialog.getByText('Must be another name').waitFor()
    assert.equal(await page.getByRole('alert').count(), 0)
  })

  step('Offline, a write is refused in place and its input is kept', async () => {
    await dialog.getByLabel('Name').fill('written offline')
    await page.context().setOffline(true)
    await page.getByText('You are offline.', { exact: true }).waitFor()
    await dialog.getByRole('button', { name: 'Create project' }).click()
    await dialog.getByText(offlineText).waitFor()
    assert.equal(await dialog.getByLabel('Name').inputValue(), 'written offline')
    await page.getByRole('table').getByText('default', { exact: true }).waitFor()
    await inspect('offline')
    await page.context().setOffline(false)
    await page.getByText('You are offline.', { exact: true }).waitFor({ state: 'detached' })
    await dialog.getByRole('button', { name: 'Create project' }).click()
    await page.getByRole('link', { name: 'written offline' }).waitFor()
  })

  step('A page opens and recovers by itself when the server can be reached again', async () => {
    await page.route('**/console/v1/**', (route) => route.abort('connectionrefused'))
    await page.route('**/assets/**', (route) => route.abort('connectionrefused'))
    await page.getByRole('navigation').getByRole('link', { name: 'Team' }).click()
    await page.getByText('The server cannot be reached.').waitFor()
    await browser.driver.waitForHeading('Team')
    await page.getByText('This page loads when the connection is back.').waitFor()
    assert.equal(await page.locator('h1').count(), 1, 'the page before is removed')
    assert.equal(new URL(page.url()).pathname, '/team')
    await page.unroute('**/assets/**')
    await page.unroute('**/console/v1/**')
    await browser.driver.waitForHeading('Team')
    await page.getByRole('cell', { name: 'Olga' }).waitFor()
    await page.getByText('The server cannot be reached.').waitFor({ state: 'detached' })
  })

  step('A busy server is tried again, and an unexpected error has a reference', async () => {
    await answerOnce(page, '**/console/v1/webhooks', {
      status: 503,
      headers: { 'retry-after': '5' },
      json: { detail: 'The server is busy.' },
    })
    // The text disappears by itself.
    await Promise.all([
      page.getByText('It is tried again in 5 s.').waitFor(),
      browser.driver.open('Webhooks'),
    ])
    await page.getByText('No webhooks').waitFor()
    await answerOnce(page, '**/console/v1/users', {
      status: 500,
      headers: { 'x-request-id': 'reference-1' },
      json: { detail: 'Internal error.' },
    })
    await browser.goto('/team')
    await page.getByRole('alert').getByText('reference-1').waitFor()
    await inspect('server-error')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('cell', { name: 'Olga' }).waitFor()
  })

  step(
    'After the end of a session, its user signs in on the page, which keeps its input',
    async () => {
      await browser.goto(projectPath)
      const burst = page.getByLabel(/^Burst limit/u)
      await burst.fill('77')
      await endSessions(browser, ownerId)
      await page.getByRole('button', { name: 'Save' }).click()
      await dialog.getByText('Your session has ended').waitFor()
      assert.equal(await dialog.getByLabel('Name').inputValue(), 'Olga')
      await inspect('session-ended')
      await dialog.getByLabel(/^Password/u).fill('a wrong password')
      await page.keyboard.press('Enter')
      await dialog.getByText('The name or the password is wrong.').waitFor()
      await dialog.getByLabel(/^Password/u).fill(password)
      await page.keyboard.press('Enter')
      await dialog.waitFor({ state: 'detached' })
      assert.equal(await burst.inputValue(), '77')
      await Promise.all([
        page.getByText('They apply to new calls.').waitFor(),
        page.getByRole('button', { name: 'Save' }).click(),
      ])
      const client = browser.testConsole.newClient()
      assertOk(await client.send('POST', '/sign-in', { name: 'Olga', password }))
      assert.equal((await client.get(projectPath)).body.burst, 77)
      owner = client
    },
  )

  step('A read is repeated after the sign-in, and another user gets a fresh page', async () => {
    const { name } = (await member.get('/session')).body.user
    const { secret } = assertOk(await member.send('POST', '/second-factor', { password })).body
    const code = authenticatorCode(secret, clock.nowMs)
    assertOk(await member.send('POST', '/second-factor/confirm', { code }))
    await endSessions(browser, ownerId)
    // The page opens below the dialog, which hides it.
    await page.getByRole('link', { name: 'Webhooks', exact: true }).click()
    await dialog.getByLabel(/^Password/u).fill(password)
    await page.keyboard.press('Enter')
    await page.getByText('No webhooks').waitFor()
    await browser.goto(projectPath)
    await endSessions(browser, ownerId)
    await page.getByLabel(/^Burst limit/u).fill('78')
    await page.getByRole('button', { name: 'Save' }).click()
    await dialog.getByLabel('Name').fill(name)
    await dialog.getByLabel(/^Password/u).fill(password)
    await page.keyboard.press('Enter')
    await dialog.getByLabel(/^Code/u).fill(authenticatorCode(secret, clock.nowMs + timeStepMs))
    await page.keyboard.press('Enter')
    await browser.driver.waitForHeading('Overview')
    await page.getByRole('button', { name: `Account of ${name}` }).waitFor()
    const messages = browser.pageErrors.messages.filter((text) => text.startsWith('error:'))
    assert.deepEqual([messages, browser.driver.violations], [[], []])
  })

  async function enroll(person: string, more: object): Promise<void> {
    const { projectId } = browser.testConsole
    const call = { action: 'svc.enroll', params: { ...imageParams(person), ...more } }
    const { body } = assertOk(await owner.send('POST', '/playground', { projectId, call }))
    assert.equal(body.envelope.ok, true)
  }
})

async function waitForFocus(page: Page, name: string): Promise<void> {
  const button = page.getByRole('button', { name, exact: true })
  await button.and(page.locator(':focus')).waitFor()
}

/** Answers the next request of a path without the server. */
async function answerOnce(
  page: Page,
  pattern: string,
  answer: {
    readonly status: number
    readonly headers: Record<string, string>
    readonly json: object
  },
): Promise<void> {
  await page.route(pattern, (route) => route.fulfill(answer), { times: 1 })
}

async function endSessions({ testConsole }: ConsoleBrowser, userId: string): Promise<void> {
  await testConsole.gallery.database.store.write((tx) => endUserSessions(tx, userId))
}

/** Sets the last activity of all subjects to an earlier time. */
async function makeSubjectsOlder({ testConsole }: ConsoleBrowser, ageMs: number): Promise<void> {
  const lastSeenAtUtc = new Date(Date.now() - ageMs).toISOString()
  const { db } = testConsole.gallery.database.store
  await db.updateTable('subjects').set({ lastSeenAtUtc }).execute()
}
