import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { after, before, describe } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { recognizerModelId } from '../../../src/models/model-set.ts'
import { skipWithoutBrowser } from '../../support/console/browser/chromium.ts'
import {
  openConsoleBrowser,
  type ConsoleBrowser,
} from '../../support/console/browser/console-browser.ts'
import { inspectDialog, inspectPage } from '../../support/console/browser/inspect-page.ts'
import { sequentialTests } from '../../support/console/browser/sequential-tests.ts'
import { calibratedRecognizer, recognizerFiles, tableOf } from '../../support/models/models-cli.ts'
import {
  manifestOf,
  smallLiveness,
  smallNetwork,
  smallRecognizer,
  writePack,
} from '../../support/models/small-network.ts'

const licence = { name: 'of a test', commercialUse: 'unclear' } as const
const measured = [{ what: 'spoofs classified as live', on: 'prints of a test', value: '1.5 %' }]

describe('The models page of the console', { skip: skipWithoutBrowser }, () => {
  let browser: ConsoleBrowser
  let page: Page
  let dialog: Locator
  const step = sequentialTests()
  const button = (name: string, within: Page | Locator = page) =>
    within.getByRole('button', { name, exact: true })
  /** The state of the last command. */
  const ended = (state: 'done' | 'failed') =>
    page.locator('output').getByText(state, { exact: true })

  before(async () => {
    browser = await openConsoleBrowser()
    page = browser.page
    dialog = page.getByRole('dialog')
    const incoming = path.join(browser.testConsole.gallery.dataDir, 'models', 'incoming')
    const network = smallLiveness('net', { licence, measured })
    const files = { 'net.onnx': smallNetwork(2) }
    await writePack(path.join(incoming, 'mine'), manifestOf('mine', [network]), files)
    const { cohort, ...decoding } = calibratedRecognizer.decoding
    const withBuiltin = { cohort, calibration: 'both.json' }
    const face = smallRecognizer('net', { decoding: { ...decoding, cohort, withBuiltin } })
    const both = tableOf(`${recognizerModelId('builtin')}+net@1`)
    const faceFiles = { 'net.onnx': smallNetwork(16), ...recognizerFiles, 'both.json': both }
    await writePack(path.join(incoming, 'face'), manifestOf('face', [face]), faceFiles)
    await mkdir(path.join(incoming, 'people', 'ada'), { recursive: true })
    await writeFile(path.join(incoming, 'people', 'ada', '1.jpg'), 'not a picture')
    await writeFile(path.join(incoming, 'small.onnx'), smallNetwork(16))
  })
  after(() => browser?.[Symbol.asyncDispose]())

  step(
    'The first steps lead to the recommended models, whose licence is shown before',
    async () => {
      await browser.goto('/')
      await page.getByRole('link', { name: 'Show the licence and install' }).click()
      await dialog.getByText('facegate models install recommended --use').waitFor()
      assert.ok(await button('Install', dialog).isEnabled())
      await dialog.getByText('Full text').click()
      await dialog.getByText('Apache License').first().waitFor()
      assert.equal(await dialog.getByText('Full text').count(), 1, 'each licence once')
      await inspectDialog(page, browser.driver, 'models-install')
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
    },
  )

  step('A pack of the server is installed after its licence is accepted', async () => {
    await button('Install an incoming pack').click()
    await page.getByRole('menuitem', { name: 'mine' }).click()
    await dialog.getByLabel('I have read the licence and accept it').check()
    await button('Install', dialog).click()
    await ended('done').waitFor()
    await page.getByText('installed mine/net (liveness)').waitFor()
    await inspectPage(page, browser.driver, 'models-installed')
  })

  step(
    'The card and the figures before and after are shown, and the page states the restart',
    async () => {
      await button('Open mine/net').click()
      await dialog.getByText('1.5 %').waitFor()
      await inspectDialog(page, browser.driver, 'models-card')
      await button('Use as liveness', dialog).click()
      const use = page.getByRole('dialog', { name: 'Use mine as liveness' })
      await use
        .getByRole('region', { name: 'Now selected' })
        .getByText('builtin/liveness')
        .waitFor()
      await use.getByRole('region', { name: 'Selected then' }).getByText('1.5 %').waitFor()
      await inspectDialog(page, browser.driver, 'models-use')
      await button('Use after the next restart', use).click()
      await use.waitFor({ state: 'detached' })
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      await page.getByText('Restart the service to use the selected networks').waitFor()
      await page.getByText('in use after the restart').waitFor()
      await ended('done').waitFor()
    },
  )

  step(
    'A recognizer is selected together with the built-in one, and either alone again',
    async () => {
      await button('Install an incoming pack').click()
      await page.getByRole('menuitem', { name: 'face' }).click()
      await button('Install', dialog).click()
      await page.getByText('installed face/net (recognizer)').waitFor()
      await button('Open face/net').click()
      await button('Use as recognizer', dialog).click()
      const use = page.getByRole('dialog', { name: 'Use face/net as recognizer' })
      await use.getByLabel('Together with the built-in recognizer').check()
      await use.getByText('facegate models use builtin+face/net --role recognizer').waitFor()
      const then = use.getByRole('region', { name: 'Selected then' })
      await then.getByText('builtin/face_recognition').waitFor()
      await inspectDialog(page, browser.driver, 'models-use-both')
      await button('Use after the next restart', use).click()
      await use.waitFor({ state: 'detached' })
      await page.getByText('recognizer: builtin+face/net').waitFor()
      await button('Use as recognizer', dialog).waitFor()
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      await button('Open face/net').click()
      await button('Use as recognizer', dialog).click()
      await button('Use after the next restart', use).click()
      await use.waitFor({ state: 'detached' })
      await page.getByText('recognizer: face/net').waitFor()
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      await button('Open builtin/face_recognition').click()
      await button('Use as recognizer', dialog).click()
      const back = page.getByRole('dialog', { name: 'Use builtin as recognizer' })
      const now = back.getByRole('region', { name: 'Now selected' })
      await now.getByText('face/net').waitFor()
      await now.getByText('in use for attributes only').waitFor()
      assert.equal(await now.getByText('in use for').count(), 1)
      await page.keyboard.press('Escape')
      await back.waitFor({ state: 'detached' })
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
    },
  )

  step('A failed qualification shows its reason, also after a reload', async () => {
    await button('Qualify a recognizer').click()
    await dialog.getByRole('combobox', { name: 'Network file' }).click()
    await page.getByRole('option', { name: 'small.onnx' }).click()
    await dialog.getByRole('combobox', { name: 'Pictures' }).click()
    await page.getByRole('option', { name: 'people' }).click()
    await dialog.getByLabel('Name of the new pack').fill('small')
    await dialog.getByLabel('Licence, as its source states it').fill("a test's")
    await dialog.getByLabel('Values of a template').fill('16')
    await dialog.getByText(`--licence 'a test'\\''s'`).waitFor()
    await inspectDialog(page, browser.driver, 'models-qualify')
    await button('Qualify', dialog).click()
    await ended('failed').waitFor()
    await page.reload()
    await ended('failed').waitFor()
    await page.getByText(/small does not work: /u).waitFor()
    await inspectPage(page, browser.driver, 'models-failed')
    await button('Hide').click()
    await page.getByText(/small does not work: /u).waitFor({ state: 'detached' })
  })

  step('A viewer sees the commands and cannot start them', async () => {
    const viewer = await browser.openPage(await browser.testConsole.inviteMember('viewer'))
    await viewer.goto(`${browser.testConsole.url}/models?install=recommended`)
    await viewer.getByText('Only owners of the first account change models').waitFor()
    await viewer.getByText('facegate models install recommended --use').waitFor()
    assert.equal(await button('Install', viewer).count(), 0)
    assert.equal(await button('Qualify a recognizer', viewer).count(), 0)
    assert.deepEqual([browser.driver.violations, browser.pageErrors.messages], [[], []])
  })
})
