import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { skipWithoutBrowser } from '../../support/console/browser/chromium.ts'
import {
  openConsoleBrowser,
  phoneViewport,
  type ConsoleBrowser,
} from '../../support/console/browser/console-browser.ts'
import type { ConsoleDriver } from '../../support/console/browser/console-driver.ts'
import { inspectDialog, inspectPage } from '../../support/console/browser/inspect-page.ts'
import { sequentialTests } from '../../support/console/browser/sequential-tests.ts'
import { enrollPerson } from '../../support/console/subjects/enroll-person.ts'
import { pictureVision } from '../../support/console/subjects/person-pictures.ts'
import { assertOk } from '../../support/console/test-console.ts'
import { takeOf } from '../../support/gallery/fake-vision.ts'

describe('An owner corrects a gallery', { skip: skipWithoutBrowser }, () => {
  let browser: ConsoleBrowser
  let page: Page
  let driver: ConsoleDriver
  let dialog: Locator
  let path: string

  const step = sequentialTests()

  before(async () => {
    browser = await openConsoleBrowser({ vision: pictureVision({ name: 'Zoe' }) })
    ;({ page, driver } = browser)
    dialog = page.getByRole('dialog')
    const { owner, projectId } = browser.testConsole
    path = `/projects/${projectId}`
    assertOk(await owner.send('PATCH', path, { switches: { storeCrops: true } }))
    for (const [name, ...people] of [
      ['Ann Berg', takeOf('Ann', 0), takeOf('Ann', 1)],
      ['Anna B.', takeOf('Ann', 2)],
      ['Bo Lind', takeOf('Bo', 0), takeOf('Bo', 1)],
      ['B. Lind', takeOf('Bo', 2)],
      ['Mia', takeOf('Mia', 0), takeOf('Mia', 1), takeOf('Odo', 1)],
      ['Odo', takeOf('Odo', 0)],
    ] as const)
      await enrollPerson(browser.testConsole, name, people)
  })
  after(() => browser?.[Symbol.asyncDispose]())

  const subjectNamed = async (name: string) =>
    assertOk(await browser.testConsole.owner.get(`${path}/subjects?q=${name}`)).body.items[0]
  const pairOf = (name: string) => page.getByRole('listitem').filter({ hasText: name })
  const focusedLabel = () => page.locator(':focus').getAttribute('aria-label')
  /** Scrolls a button from behind the bar of a phone, as a user does, and presses it. */
  const press = async (button: Locator) => {
    await button.focus()
    await button.click()
  }
  const tab = (label: string) => page.getByText(label, { exact: true }).click()

  step('The check of a gallery shows its progress and the issues with their remedies', async () => {
    await browser.goto('/gallery-health')
    await page.getByText('There is no check of the last 15 minutes.').waitFor()
    await inspectPage(page, driver, 'health-start')
    await page.getByRole('button', { name: 'Check the gallery' }).click()
    await page.getByText(/: 6 people, 10 pictures, threshold 0\.\d+\./u).waitFor()
    await page.getByText('Picture of another person.').waitFor()
    await inspectPage(page, driver, 'health-issues')
    await page.getByRole('button', { name: 'One picture: 3' }).click()
    await page.getByText('Picture of another person.').waitFor({ state: 'detached' })
    await page.waitForURL(/issue=onePicture/u)
    await page.getByRole('button', { name: 'All issues' }).click()
  })

  step('A picture of another person is moved to its person, and moved back', async () => {
    const move = page.getByRole('button', { name: 'Move to Odo' })
    await move.click()
    await page.getByText(/^Picture .* Moved to Odo\.$/u).waitFor()
    assert.equal((await subjectNamed('Odo')).embeddingCount, 2)
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('The picture belongs to Mia again.').waitFor()
    assert.equal((await subjectNamed('Odo')).embeddingCount, 1)
    await move.waitFor()
  })

  step('The page of a person shows the issues of the person', async () => {
    await page.getByRole('link', { name: 'Mia', exact: true }).click()
    const health = dialog.getByRole('region', { name: 'Health' })
    await health.getByText('Picture of another person.').waitFor()
    await health.getByRole('button', { name: 'Move to Odo' }).waitFor()
    await inspectDialog(page, driver, 'subject-health')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  })

  step('The duplicates are decided with the keyboard, and each decision is undone', async () => {
    await tab('Duplicates')
    await pairOf('Ann Berg')
      .getByText(/False-match rate at this similarity: at most/u)
      .waitFor()
    assert.equal(await pairOf('Lind').count(), 1)
    await inspectPage(page, driver, 'health-duplicates')
    await pairOf('Ann Berg').focus()
    const first = await focusedLabel()
    const keys = first?.startsWith('Pair 1') ? ['ArrowDown', 'ArrowUp'] : ['ArrowUp', 'ArrowDown']
    await page.keyboard.press(keys[0]!)
    assert.match((await focusedLabel()) ?? '', /Bo Lind and B\. Lind/u)
    await page.keyboard.press('n')
    await pairOf('Lind').waitFor({ state: 'detached' })
    assert.match((await focusedLabel()) ?? '', /^Pair 1 of 1: Ann Berg and Anna B\.$/u)
    await page.keyboard.press('u')
    await pairOf('Lind').waitFor()
    await pairOf('Ann Berg').focus()
    await page.keyboard.press('m')
    await dialog.getByText(/Moved to Ann Berg: 1 template\. It then has 3 templates/u).waitFor()
    // The dialog moves the focus after it has appeared.
    await dialog.locator('button:focus').waitFor()
    assert.equal(await page.locator(':focus').innerText(), 'Merge')
    await inspectDialog(page, driver, 'health-merge')
    await page.keyboard.press('Enter')
    await pairOf('Ann Berg').waitFor({ state: 'detached' })
    assert.match((await focusedLabel()) ?? '', /^Pair 1 of 1: Bo Lind and B\. Lind$/u)
    assert.equal((await subjectNamed('Ann')).embeddingCount, 3)
    await page.keyboard.press('u')
    await page.getByText('Ann Berg and Anna B. are two subjects again.').waitFor()
    assert.equal((await subjectNamed('Ann')).embeddingCount, 2)
    await pairOf('Bo Lind').focus()
    await page.keyboard.press('n')
    await page.getByText('No possible duplicates').waitFor()
    await page.keyboard.press('u')
    await pairOf('Bo Lind').waitFor()
    assert.match((await focusedLabel()) ?? '', /^Pair 1 of 1: Bo Lind and B\. Lind$/u)
  })

  step(
    'On a phone in the dark scheme, a pair is merged and a decision is listed and removed',
    async () => {
      await page.setViewportSize(phoneViewport)
      await page.emulateMedia({ colorScheme: 'dark' })
      const row = pairOf('Bo Lind')
      await press(row.getByRole('button', { name: 'Not the same: Bo Lind and B. Lind' }))
      await page.getByText('No possible duplicates').waitFor()
      await tab('Decisions')
      const remove = page.getByRole('button', { name: 'Remove: Bo Lind and B. Lind' })
      const other = page.getByRole('button', { name: 'Remove: B. Lind and Bo Lind' })
      await remove.or(other).waitFor()
      await page.emulateMedia({ colorScheme: driver.scheme() })
      await inspectPage(page, driver, 'health-decisions')
      await press(remove.or(other))
      await page.getByText('No decisions').waitFor()
      await page.setViewportSize(phoneViewport)
      await tab('Duplicates')
      await press(row.getByRole('button', { name: 'Same person: Bo Lind and B. Lind' }))
      await dialog.getByRole('button', { name: 'Merge', exact: true }).click()
      await page.getByText('No possible duplicates').waitFor()
      await tab('Decisions')
      const undo = page.getByRole('button', { name: 'Undo the merge into Bo Lind' })
      const undone: string[] = []
      page.on('response', (response) => {
        if (response.url().endsWith('/undo')) undone.push(`${response.status()}`)
      })
      await undo.focus()
      await undo.dblclick()
      await page.getByText('No merges of the last 30 days').waitFor()
      assert.equal((await subjectNamed('Bo')).embeddingCount, 2)
      assert.deepEqual(undone, ['200'])
      assert.equal(await page.getByText("Couldn't undo the merge").count(), 0)
    },
  )

  step('A viewer sees the results and cannot decide', async () => {
    const client = await browser.testConsole.inviteMember('viewer')
    const other = await browser.openPage(client)
    await other.goto(`${browser.testConsole.url}/gallery-health?tab=duplicates`)
    await other.getByText(/: 6 people, 10 pictures/u).waitFor()
    for (const name of ['Check again', /^Same person/u, /^Not the same/u])
      assert.equal(await other.getByRole('button', { name }).count(), 0)
    await other.close()
    assert.deepEqual(driver.violations, [])
    assert.deepEqual(browser.pageErrors.messages, [])
  })
})
