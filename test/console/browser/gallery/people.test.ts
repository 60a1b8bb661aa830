import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import type { Locator, Page } from 'playwright-core'
import { skipWithoutBrowser, stepTimeoutMs } from '../../../support/console/browser/chromium.ts'
import {
  desktopViewport,
  openConsoleBrowser,
  phoneViewport,
  type ConsoleBrowser,
} from '../../../support/console/browser/console-browser.ts'
import type { ConsoleDriver } from '../../../support/console/browser/console-driver.ts'
import { inspectPage } from '../../../support/console/browser/inspect-page.ts'
import { sequentialTests } from '../../../support/console/browser/sequential-tests.ts'
import { enrollPerson } from '../../../support/console/subjects/enroll-person.ts'
import {
  personFile,
  personPicture,
  pictureVision,
} from '../../../support/console/subjects/person-pictures.ts'
import { assertOk } from '../../../support/console/test-console.ts'
import { takeOf, type FakePerson } from '../../../support/gallery/fake-vision.ts'

const byName = ['Ann Berg', 'bob', 'Cleo', 'Dan Eng', 'Zoë']

describe('An owner looks for people', { skip: skipWithoutBrowser }, () => {
  let browser: ConsoleBrowser
  let page: Page
  let driver: ConsoleDriver
  let dialog: Locator
  let result: Locator

  const step = sequentialTests()

  before(async () => {
    browser = await openConsoleBrowser({ vision: pictureVision({ name: 'Zoe' }) })
    ;({ page, driver } = browser)
    dialog = page.getByRole('dialog')
    result = page.getByRole('region', { name: 'Result of the search' })
    const { owner, projectId } = browser.testConsole
    await enrollPerson(browser.testConsole, 'Zoë', [takeOf('Zoë', 0)])
    const switches = { storeCrops: true }
    assertOk(await owner.send('PATCH', `/projects/${projectId}`, { switches }))
    for (const name of ['bob', 'Ann Berg', 'Dan Eng', 'Cleo'])
      await enrollPerson(browser.testConsole, name, [takeOf(name, 0), takeOf(name, 1)])
  })
  after(() => browser?.[Symbol.asyncDispose]())

  const person = (name: string) => page.getByRole('listitem').filter({ hasText: name })
  const closeResult = async () => {
    await page.getByRole('button', { name: 'Close the result' }).click()
    await result.waitFor({ state: 'detached' })
  }

  /** Waits until the people are shown in an order. */
  async function waitForOrder(names: readonly string[]): Promise<void> {
    const shown = () => page.locator('.fg-person-name').allInnerTexts()
    for (const endMs = Date.now() + stepTimeoutMs; Date.now() < endMs; await setTimeout(20))
      if ((await shown()).join() === names.join()) return
    assert.deepEqual(await shown(), names)
  }

  /** Drops or pastes a picture on the page. The type check of the tests has no browser types. */
  async function transferPicture(kind: 'drop' | 'paste', shown: FakePerson): Promise<void> {
    const base64 = (await personPicture(shown)).toString('base64')
    await page.evaluate(`{
      const bytes = Uint8Array.from(atob('${base64}'), (letter) => letter.charCodeAt(0))
      const data = new DataTransfer()
      data.items.add(new File([bytes], 'picture.jpg', { type: 'image/jpeg' }))
      const event = '${kind}' === 'drop'
        ? new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true })
        : new ClipboardEvent('paste', { clipboardData: data, bubbles: true })
      document.querySelector('.fg-drop-zone').dispatchEvent(event)
    }`)
  }

  step(
    'People are shown as faces or initials, sorted by name, and opened with the keyboard',
    async () => {
      await browser.goto('/subjects')
      await waitForOrder(['Zoë', 'bob', 'Ann Berg', 'Dan Eng', 'Cleo'])
      assert.equal(await person('Zoë').locator('img').count(), 0)
      await person('Zoë').locator('[data-initials=Z]').waitFor()
      await page.getByLabel('Sort by').selectOption('name')
      await page.waitForURL(/sort=name/u)
      await waitForOrder(byName)
      await inspectPage(page, driver, 'people-faces')
      await page.setViewportSize(desktopViewport)
      await page.getByRole('button', { name: 'Open Ann Berg' }).focus()
      await page.keyboard.press('ArrowRight')
      assert.equal(await page.locator(':focus').getAttribute('aria-label'), 'Open bob')
      await page.keyboard.press('Enter')
      await dialog.getByText('Last seen').waitFor()
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
    },
  )

  step('On a phone, the first face is in the upper third and large', async () => {
    await page.setViewportSize(phoneViewport)
    const face = await person('Ann Berg').locator('img').boundingBox()
    assert.ok(face && face.y < phoneViewport.height / 3, `${face?.y} px`)
    assert.ok(face.width >= 140, `${face.width} px`)
    await page.setViewportSize(desktopViewport)
  })

  step(
    'A chosen, dropped or pasted picture finds its person, another one has no match',
    async () => {
      const input = page.getByLabel('Picture to search')
      await page.getByText(/^Price: 0\.002 USD/u).waitFor()
      await input.setInputFiles(await personFile('ann.jpg', takeOf('Ann Berg', 4)))
      await result.getByText('Ann Berg', { exact: true }).first().waitFor()
      await result
        .getByText(/^0\.\d+ match$/u)
        .first()
        .waitFor()
      await inspectPage(page, driver, 'people-search')
      await page.setViewportSize(desktopViewport)
      await input.setInputFiles(await personFile('odo.jpg', { name: 'Odo' }))
      await result.getByText('No match', { exact: true }).waitFor()
      await result
        .getByText(/^0\.\d+ below$/u)
        .first()
        .waitFor()
      const text = { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('text') }
      await input.setInputFiles(text)
      await result.getByText(/^a\.txt is neither JPEG nor PNG/u).waitFor()
      await transferPicture('drop', takeOf('Dan Eng', 5))
      await result.getByRole('button', { name: 'Open subject Dan Eng' }).click()
      await dialog.getByRole('heading', { name: 'Subject', exact: true }).waitFor()
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      await closeResult()
      await transferPicture('paste', takeOf('bob', 6))
      await result.getByText('bob', { exact: true }).first().waitFor()
      await closeResult()
    },
  )

  step('A pasted picture goes to an open dialog, and is not searched', async () => {
    await page.getByRole('button', { name: 'Enroll a subject' }).click()
    await dialog.getByText('Add one image.').waitFor()
    await transferPicture('paste', takeOf('bob', 7))
    await dialog.getByRole('button', { name: /^Remove image 0/u }).waitFor()
    assert.equal(await result.count(), 0)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  })

  step(
    'The table is remembered, and is sorted by the last time that a person was seen',
    async () => {
      await page.getByText('Table', { exact: true }).click()
      await page.getByRole('cell', { name: 'Cleo', exact: true }).waitFor()
      await page.reload()
      await page.getByRole('button', { name: /^Last seen/u }).click()
      await page.waitForURL(/sort=-seen/u)
      await inspectPage(page, driver, 'people-table')
      await page.setViewportSize(desktopViewport)
      await page.getByText('Faces', { exact: true }).click()
      await person('Cleo').waitFor()
      assert.deepEqual(driver.violations, [])
      assert.deepEqual(browser.pageErrors.messages, [])
    },
  )
})
