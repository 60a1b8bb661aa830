import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { BrowserContext, Locator, Page } from 'playwright-core'
import { englishTexts } from '../../../client/src/liveness/texts.ts'
import { buildConsole } from '../../../web/build.ts'
import {
  sharedChromium,
  skipWithoutBrowser,
  stepTimeoutMs,
  watchPageErrors,
  type PageErrors,
} from '../../support/console/browser/chromium.ts'
import { desktopViewport } from '../../support/console/browser/console-browser.ts'
import {
  createConsoleDriver,
  type ConsoleDriver,
} from '../../support/console/browser/console-driver.ts'
import {
  consolePages,
  loadingSelector,
  openPage,
} from '../../support/console/browser/console-pages.ts'
import {
  assertLegibleLabels,
  chooseFiles,
  judgeAgain,
} from '../../support/console/browser/playground-checks.ts'
import { inspectPage } from '../../support/console/browser/inspect-page.ts'
import { explainFailedCall } from '../../support/console/browser/log-checks.ts'
import { measureScripts } from '../../support/console/browser/measure-scripts.ts'
import {
  enableSecondFactor,
  signInWithCode,
  signOut,
} from '../../support/console/browser/authenticator.ts'
import { createTestClient, samplePhotograph } from '../../support/facegate/test-facegate.ts'
import { sequentialTests } from '../../support/console/browser/sequential-tests.ts'
import { closeSharedServices } from '../../support/shared-service.ts'
import { spawnFacegate, type FacegateProcess } from '../../support/facegate/spawn-facegate.ts'

const password = 'a long enough password'
const canary = '<img src="/canary" onerror="alert(1)">'
const scriptBytesMax = 280_000

describe('A new owner uses the console for the first time', { skip: skipWithoutBrowser }, () => {
  let facegate: FacegateProcess
  let context: BrowserContext
  let page: Page
  let dialog: Locator
  let driver: ConsoleDriver
  let pageErrors: PageErrors
  let projectId = ''
  let key = ''
  let subjectId = ''

  const step = sequentialTests()

  before(async () => {
    await buildConsole()
    facegate = await spawnFacegate({ RATE_SUSTAINED_PER_S: '20', RATE_BURST: '40' })
    const browser = await sharedChromium()
    context = await browser.newContext({ viewport: desktopViewport, reducedMotion: 'reduce' })
    page = await context.newPage()
    page.setDefaultTimeout(stepTimeoutMs)
    dialog = page.getByRole('dialog')
    driver = createConsoleDriver(page)
    pageErrors = watchPageErrors(page, facegate.url)
  })

  after(async () => {
    await context?.close()
    await closeSharedServices()
    await facegate?.[Symbol.asyncDispose]()
  })

  step('The setup link of the first start sets the password of the owner', async () => {
    const link = /\S+\/setup#\S+/u.exec(facegate.stdout())?.[0]
    assert.ok(link, 'the first start prints a link')
    await page.goto(link)
    await driver.inspect('set-up', 'light')
    await page.getByLabel('Your name').fill('Olga')
    await page.getByLabel(/^Password(?: \*)?$/u).fill(password)
    await page.getByLabel('Confirm password').fill(password)
    await page.getByRole('button', { name: 'Set password' }).click()
    await driver.waitForHeading('Overview')
  })

  step('An owner creates a project and allocates a budget to it', async () => {
    await driver.open('Projects')
    await page.getByRole('button', { name: 'Create project' }).first().click()
    await page.getByLabel('Name').fill(canary)
    await dialog.getByRole('button', { name: 'Create project' }).click()
    await page.getByRole('link', { name: canary }).waitFor()
    await driver.open('Wallet and budgets')
    await page.getByRole('button', { name: 'Top up' }).click()
    await page.getByLabel(/^Amount/u).fill('25')
    await page.getByRole('button', { name: 'Add credit' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: `Allocate to ${canary}` }).click()
    await page.getByLabel(/^Amount/u).fill('2.50')
    await page.getByRole('button', { name: 'Allocate', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('cell', { name: '2.50 USD' }).first().waitFor()
  })

  step('A new key is shown once, and its dialog closes only after a confirmation', async () => {
    await page.getByRole('combobox', { name: 'Project' }).click()
    await page.getByRole('option', { name: canary }).click()
    await driver.open('API keys')
    projectId = new URL(page.url()).searchParams.get('projectId') ?? ''
    await page.getByRole('button', { name: 'Create key' }).first().click()
    await page.getByLabel('Name').fill(`key ${canary}`)
    await driver.createKeyWithExpiry('90 days')
    const done = page.getByRole('button', { name: 'Done' })
    await done.waitFor()
    await driver.inspect('key-shown-once', 'light')
    assert.ok(await done.isDisabled(), 'the dialog requires the confirmation first')
    key = (await page.locator('pre').innerText()).trim()
    assert.match(key, /^fsk_/u)
    await page.getByLabel('I have copied it').check()
    await done.click()
    await page.getByRole('cell', { name: `key ${canary}`, exact: true }).waitFor()
  })

  step('The camera takes a photograph, which can be removed', async () => {
    await driver.open('Playground')
    await page.getByRole('button', { name: 'Camera' }).click()
    await page.getByRole('button', { name: 'Take photo' }).click()
    await page.getByRole('button', { name: 'Remove image 0: camera.jpg' }).click()
  })

  step('The playground detects the faces of a photograph and draws them', async () => {
    await chooseFiles(page, await samplePhotograph(1))
    await driver.runAction('svc.detect')
    await page
      .locator('output')
      .getByText(/^Image 0: \d+ faces?$/u)
      .waitFor()
    await assertLegibleLabels(page)
    const box = await page.locator('[data-annotation] rect').first().boundingBox()
    assert.ok(box && box.width > 10 && box.height > 10, 'a box is visible')
    assert.ok(
      (await page.locator('[data-annotation] circle').count()) >= 5,
      'the landmarks are visible',
    )
    await driver.inspect('playground-detect', 'light')
  })

  step('An enrolled face is identified by name', async () => {
    await driver.chooseAction('svc.enroll')
    await page.getByRole('textbox', { name: 'externalId' }).fill(`olga-1 ${canary}`)
    await page.getByRole('textbox', { name: 'displayName' }).fill(canary)
    await page.getByRole('combobox', { name: 'groups' }).fill('first-hour')
    await page.keyboard.press('Enter')
    await page.getByRole('combobox', { name: 'facePolicy' }).click()
    await page.getByRole('option', { name: 'largest' }).click()
    await driver.runAction('svc.enroll')
    await page.getByText('New subject enrolled').waitFor()
    await driver.chooseAction('svc.identify')
    await driver.runAction('svc.identify')
    await page.locator('[data-annotation=good] text', { hasText: canary.slice(0, 23) }).waitFor()
    await driver.inspect('playground-identify', 'light')
    await judgeAgain(page, canary)
  })

  step('Every call appears in the request log, the ledger and the overview', async () => {
    const response = await createTestClient(facegate.url, key).run(
      'svc.detect',
      await samplePhotograph(1),
    )
    assert.equal(response.body.ok, true)
    await driver.open('Request log')
    await page.getByRole('cell', { name: 'svc.identify', exact: true }).waitFor()
    await page.getByRole('cell', { name: `key ${canary}`, exact: true }).waitFor()
    await page.getByRole('row').nth(4).waitFor()
    assert.equal(await page.getByRole('row').count(), 5, 'a header row and four calls')
    await page.getByRole('button', { name: /^Open svc.enroll call/u }).click()
    await page.getByText('View charge in ledger').waitFor()
    await driver.inspect('log-call', 'light')
    await page.getByRole('button', { name: 'Close' }).click()
    await driver.open('Ledger')
    await page.getByText('Request log and ledger match').waitFor()
    const charges = page.getByRole('cell', { name: 'charge', exact: true })
    await charges.nth(3).waitFor()
    assert.equal(await charges.count(), 4)
    await driver.open('Overview')
    await page.getByText(/^4 billed/u).waitFor()
  })

  step('The log explains a failed call, and shows new calls by itself', async () => {
    await explainFailedCall(page, driver, createTestClient(facegate.url, key))
  })

  step('A raised rate limit is saved', async () => {
    await driver.open('Projects')
    await page.getByRole('link', { name: canary }).click()
    await page.getByLabel(/^Sustained limit/u).fill('120')
    await Promise.all([
      page.getByText('They apply to new calls.').waitFor(),
      page.getByRole('button', { name: 'Save' }).click(),
    ])
    await page.reload()
    await driver.waitForHeading(canary)
    assert.equal(await page.getByLabel(/^Sustained limit/u).inputValue(), '120')
    await driver.inspect('project', 'light')
  })

  step('The next call with a revoked key is rejected', async () => {
    await driver.open('API keys')
    await page.getByRole('button', { name: `Open key ${canary}` }).click()
    await dialog.getByRole('button', { name: 'Revoke', exact: true }).click()
    const revoke = page.getByRole('button', { name: 'Revoke key', exact: true })
    assert.ok(await revoke.isDisabled(), 'the button is disabled until the name is typed')
    await page.getByLabel(/to confirm$/u).fill(`key ${canary}`)
    await revoke.click()
    await dialog.getByText('revoked', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Close' }).click()
    const client = createTestClient(facegate.url, key)
    const rejected = await client.run('svc.detect', await samplePhotograph(1))
    assert.equal(rejected.status, 401)
  })

  step('Every page is accessible in light and dark, on a desktop and on a phone', async () => {
    for (const [name, address] of consolePages) {
      await openPage(page, inProject(address))
      await page.locator('h1').waitFor()
      await page.locator(loadingSelector).first().waitFor({ state: 'detached' })
      await inspectPage(page, driver, name)
    }
    await page.setViewportSize(desktopViewport)
    assert.deepEqual(driver.violations, [])
  })

  step('The overview loads less script than its limit', async (t) => {
    const { files, bytes, paintMs } = await measureScripts(page, inProject('/'))
    t.diagnostic(`script of the overview with its chart, gzip: ${bytes} bytes`)
    t.diagnostic(`first contentful paint: ${paintMs?.toFixed(0)} ms`)
    assert.ok(files > 0)
    assert.ok(bytes <= scriptBytesMax, `${bytes} bytes`)
  })

  step(
    'A deleted subject disappears from the list and appears in the deletion ledger',
    async () => {
      await driver.open('Subjects')
      await page.getByRole('button', { name: `Open ${canary}` }).waitFor()
      await page
        .getByRole('button', { name: /^Open /u })
        .first()
        .click()
      await page.getByRole('button', { name: 'Delete subject' }).waitFor()
      subjectId = new URL(page.url()).searchParams.get('subject') ?? ''
      await driver.inspect('subject', 'light')
      await page.getByRole('button', { name: 'Delete subject' }).click()
      await page.getByLabel(/to confirm$/u).fill(subjectId.slice(0, 8))
      await page.getByRole('button', { name: 'Delete permanently' }).click()
      await page.getByText('No subjects yet').waitFor()
      await driver.open('Deletion ledger')
      await page.getByRole('cell', { name: `${subjectId.slice(0, 8)} Copy subject id` }).waitFor()
      await page.getByText('Hash chain valid').waitFor()
      await driver.inspect('deletions-one', 'light')
    },
  )

  step('Sign-in requires the code of the app, and returns to the previous page', async () => {
    const secret = await enableSecondFactor(page, driver, password)
    await driver.open('Models')
    await signOut(page, driver)
    await driver.inspect('sign-in', 'light')
    await signInWithCode(page, { name: ' Olga ', password, secret })
    assert.match(pageErrors.messages.splice(0).join(), / 401 \(Unauthorized\)$/u)
    await driver.waitForHeading('Models')
    await page.reload()
    await driver.waitForHeading('Models')
    await page.keyboard.press('Tab')
    assert.equal(await page.locator(':focus').innerText(), 'Skip to content')
    assert.deepEqual(driver.violations, [])
  })

  step('A challenge of the playground reports frames without a face', async () => {
    await driver.open('Playground')
    assert.equal(await page.getByRole('heading', { name: 'History' }).count(), 0, 'signed out')
    await driver.chooseAction('svc.liveness')
    await driver.runChallenge(englishTexts.reasons['NO_FACE_FOUND']!)
  })

  step('Names with markup were shown as text on every page', async () => {
    assert.deepEqual(pageErrors.messages, [])
  })

  const inProject = (address: string) =>
    `${facegate.url}${address}${address.includes('?') ? '&' : '?'}projectId=${projectId}`
})
