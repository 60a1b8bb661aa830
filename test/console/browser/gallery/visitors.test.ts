import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { skipWithoutBrowser } from '../../../support/console/browser/chromium.ts'
import {
  desktopViewport,
  openConsoleBrowser,
  type ConsoleBrowser,
} from '../../../support/console/browser/console-browser.ts'
import type { ConsoleDriver } from '../../../support/console/browser/console-driver.ts'
import { inspectDialog, inspectPage } from '../../../support/console/browser/inspect-page.ts'
import { sequentialTests } from '../../../support/console/browser/sequential-tests.ts'
import { enrollPerson } from '../../../support/console/subjects/enroll-person.ts'
import { personPicture, pictureVision } from '../../../support/console/subjects/person-pictures.ts'
import { assertOk } from '../../../support/console/test-console.ts'
import { takeOf } from '../../../support/gallery/fake-vision.ts'

const path = '/subjects?tab=visitors'

describe('An owner looks for unknown people', { skip: skipWithoutBrowser }, () => {
  let browser: ConsoleBrowser
  let page: Page
  let driver: ConsoleDriver
  let dialog: Locator
  let drawer: Locator
  const ids = new Map<string, string>()

  const step = sequentialTests()

  before(async () => {
    browser = await openConsoleBrowser({ vision: pictureVision({ name: 'Zoe' }) })
    ;({ page, driver } = browser)
    dialog = page.getByRole('dialog').last()
    drawer = page.getByRole('dialog', { name: 'Visitor', exact: true })
  })
  after(() => browser?.[Symbol.asyncDispose]())

  /** Searches for a drawn person that is not enrolled. */
  async function visit(name: string, take: number): Promise<void> {
    const { owner, projectId } = browser.testConsole
    const bytes = (await personPicture(takeOf(name, take))).toString('base64')
    const images = [{ kind: 'image', contentType: 'image/jpeg', bytes }]
    const call = { action: 'svc.identify', params: { images } }
    const { body } = assertOk(await owner.send('POST', '/playground', { projectId, call }))
    const { visitorId } = body.envelope.data.results[0].value.faces[0]
    assert.ok(visitorId, JSON.stringify(body))
    ids.set(name, visitorId.slice(0, 8))
  }

  const shortId = (name: string): string => ids.get(name) ?? ''
  const row = (name: string) => page.locator('tbody tr').filter({ hasText: shortId(name) })
  const openVisitor = async (name: string) => {
    await page.getByRole('button', { name: `Open visitor ${shortId(name)}` }).click()
    await drawer.getByText('First seen').waitFor()
  }
  const press = (name: string) => dialog.getByRole('button', { name, exact: true }).click()
  const shownIds = async () =>
    (await page.locator('tbody .fg-mono[title]').allInnerTexts()).filter((text) =>
      [...ids.values()].includes(text),
    )

  step('The empty tab states how to store unknown people, and links to the guide', async () => {
    await browser.goto('/subjects')
    await page.getByText('Visitors', { exact: true }).click()
    await page.getByText('Unknown people are not stored').waitFor()
    await page.getByText(/facegate project set \S+ --unknown-people 30/u).waitFor()
    for (const [name, target] of Object.entries({
      'the questions to decide first': '/docs/gdpr.html#unknown-people',
      'Guide: unknown people': '/docs/guides/unknown-people.html',
    }))
      assert.equal(await page.getByRole('link', { name }).getAttribute('href'), target)
    await inspectPage(page, driver, 'visitors-off')
    await page.setViewportSize(desktopViewport)
    await page.getByRole('link', { name: 'settings of the project' }).click()
    await page.getByLabel('Store unknown people').click()
    await page.getByText('Store unknown people is on.').waitFor()
    await browser.goto(path)
    await page.getByText('No visitors yet').waitFor()
  })

  step('Visitors are sorted by the last time and by their pictures', async () => {
    const { owner, projectId } = browser.testConsole
    const switches = { storeCrops: true }
    assertOk(await owner.send('PATCH', `/projects/${projectId}`, { switches }))
    for (const [name, visits] of Object.entries({ Vic: 3, Val: 2, Vin: 1, Vera: 1 }))
      for (let take = 0; take < visits; take++) await visit(name, take)
    await browser.goto(path)
    await row('Vera').locator('img').waitFor()
    const byTime = ['Vera', 'Vin', 'Val', 'Vic'].map(shortId)
    assert.deepEqual(await shownIds(), byTime)
    await page.getByRole('button', { name: /^Pictures/u }).click()
    await page.waitForURL(/sort=-visits/u)
    await row('Vic').getByText('3', { exact: true }).waitFor()
    await page
      .locator('tbody tr')
      .first()
      .filter({ hasText: shortId('Vic') })
      .waitFor()
    assert.deepEqual((await shownIds()).slice(0, 2), [shortId('Vic'), shortId('Val')])
    await page.getByText('A visitor is deleted 30 days after its last picture.').waitFor()
    await inspectPage(page, driver, 'visitors')
    await page.setViewportSize(desktopViewport)
  })

  step('A visitor is opened with the keyboard, and shows its pictures', async () => {
    await page.getByRole('button', { name: `Open visitor ${shortId('Vic')}` }).focus()
    await page.keyboard.press('ArrowDown')
    const second = `Open visitor ${shortId('Val')}`
    assert.equal(await page.locator(':focus').getAttribute('aria-label'), second)
    await page.keyboard.press('Enter')
    await drawer.getByRole('img', { name: `Picture 1 of visitor ${shortId('Val')}` }).waitFor()
    await inspectDialog(page, driver, 'visitor')
    await page.keyboard.press('Escape')
    await drawer.waitFor({ state: 'detached' })
  })

  step('An ignored visitor is listed separately, until events are sent again', async () => {
    await openVisitor('Vin')
    await drawer.getByRole('button', { name: 'Ignore', exact: true }).click()
    await drawer.getByText('None: the visitor is ignored').waitFor()
    await page.keyboard.press('Escape')
    await row('Vin').waitFor({ state: 'detached' })
    await page.getByLabel('Show').selectOption('true')
    await row('Vin').waitFor()
    assert.deepEqual(await shownIds(), [shortId('Vin')])
    await openVisitor('Vin')
    await drawer.getByRole('button', { name: 'Send events again' }).click()
    await drawer.getByText('Sent', { exact: true }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('No ignored visitors').waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await row('Vin').waitFor()
  })

  step('A visitor is deleted after its short id is typed', async () => {
    await openVisitor('Vin')
    await drawer.getByRole('button', { name: 'Delete visitor' }).click()
    await dialog.getByText('This deletes 1 template').waitFor()
    await inspectDialog(page, driver, 'delete-visitor')
    const confirm = dialog.getByRole('button', { name: 'Delete permanently' })
    assert.ok(await confirm.isDisabled())
    await dialog.getByRole('textbox').fill(shortId('Vin'))
    await confirm.click()
    await drawer.waitFor({ state: 'detached' })
    await row('Vin').waitFor({ state: 'detached' })
  })

  step('A visitor is enrolled with a name, and is then a subject', async () => {
    await openVisitor('Vic')
    await drawer.getByRole('button', { name: 'Enroll as a subject' }).click()
    await dialog.getByLabel('Display name').fill('Vic Holm')
    await dialog.getByLabel('External id').fill('badge-7')
    await inspectDialog(page, driver, 'enroll-visitor')
    await press('Enroll')
    await page.waitForURL(/subject=/u)
    const subject = page.getByRole('dialog', { name: 'Subject', exact: true })
    await subject.getByText('Vic Holm', { exact: true }).first().waitFor()
    await page.keyboard.press('Escape')
    await subject.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Open Vic Holm' }).waitFor()
  })

  step('A visitor is merged with a subject that is found by its name', async () => {
    await browser.goto(path)
    await openVisitor('Val')
    await drawer.getByRole('button', { name: 'Merge with a subject' }).click()
    await dialog.getByLabel('Find the subject by name or external id').fill('holm')
    await dialog.getByRole('radio', { name: /^Vic Holm/u }).check()
    await inspectDialog(page, driver, 'merge-visitor')
    await press('Merge')
    const subject = page.getByRole('dialog', { name: 'Subject', exact: true })
    await subject.getByText('Vic Holm', { exact: true }).first().waitFor()
  })

  step('The details of a person show which visitors it was, and merge one', async () => {
    const subjectId = await enrollPerson(browser.testConsole, 'Vera', [takeOf('Vera', 4)])
    await browser.goto(`/subjects?subject=${subjectId}`)
    const section = page.getByRole('region', { name: 'Visitors' })
    await section.getByText('This person was probably seen before as:').waitFor()
    await section.getByText(`Visitor ${shortId('Vera')}`).waitFor()
    await inspectDialog(page, driver, 'visitors-of-subject')
    await section.getByRole('button', { name: `Merge visitor ${shortId('Vera')}` }).click()
    await page.getByText('gets the templates and the stored pictures').waitFor()
    await press('Merge')
    await section.getByText('No visitor resembles this person.').waitFor()
  })

  step('A shorter retention, and the end of the storage, state what is deleted', async () => {
    await visit('Vin', 5)
    const { gallery, projectId } = browser.testConsole
    const lastSeenAtUtc = new Date(Date.now() - 8 * 86_400_000).toISOString()
    const old = gallery.database.store.db.updateTable('subjects').set({ lastSeenAtUtc })
    await old.where('visitCount', 'is not', null).execute()
    await browser.goto(`/projects/${projectId}`)
    await page.getByLabel('Visitor retention (days)').fill('7')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await dialog.getByText('The retention of visitors changes from 30 to 7 days.').waitFor()
    await dialog.getByText('1 visitor', { exact: true }).waitFor()
    await inspectDialog(page, driver, 'visitor-retention')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.getByLabel('Store unknown people').click()
    await dialog.getByText('1 visitor', { exact: true }).waitFor()
    await dialog.getByRole('textbox').fill('default')
    await press('Stop storing')
    await page.getByText('Unknown people are no longer stored.').first().waitFor()
  })

  step('A viewer sees visitors and may not change them', async () => {
    const viewer = await browser.testConsole.inviteMember('viewer')
    const viewed = await browser.openPage(viewer)
    await viewed.goto(`${browser.testConsole.url}${path}`)
    await viewed.getByRole('button', { name: `Open visitor ${shortId('Vin')}` }).click()
    const opened = viewed.getByRole('dialog', { name: 'Visitor', exact: true })
    await opened.getByText('First seen').waitFor()
    for (const name of ['Close', `Copy visitor id ${shortId('Vin')}`])
      await opened.getByRole('button', { name }).waitFor()
    assert.equal(await opened.getByRole('button').count(), 2)
    assert.deepEqual(driver.violations, [])
    assert.deepEqual(browser.pageErrors.messages, [])
  })
})
