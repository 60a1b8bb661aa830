import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { buildConsole } from '../../web/build.ts'
import {
  findChromium,
  fitsWidth,
  openChromium,
  takeScreenshot,
  seriousViolations,
  watchPageErrors,
  type PageErrors,
} from '../support/console/chromium.ts'
import { consolePages } from '../support/console/console-pages.ts'
import { createTestClient, samplePhotograph } from '../support/facegate/test-facegate.ts'
import { sequentialTests } from '../support/console/sequential-tests.ts'
import { spawnFacegate, type FacegateProcess } from '../support/facegate/spawn-facegate.ts'
import { rootDir } from '../support/paths.ts'

const executable = findChromium()
const skip = executable ? false : 'there is no Chromium on this machine: the console is not tested'

const password = 'a long enough password'
const canary = '<img src="/canary" onerror="alert(1)">'
/** How long a step may wait for what it expects: a slow machine is no fault. */
const timeoutMs = Number(process.env['BROWSER_TIMEOUT_MS'] ?? 60_000)
const desktopViewport = { width: 1360, height: 900 }
const phoneViewport = { width: 360, height: 740 }

/** What stands in a page while something is awaited. */
const loadingSelector = '[aria-busy=true], .mantine-Skeleton-root'

const scriptBytesMax = 350_000

describe('the first hour with the console', { skip }, () => {
  let facegate: FacegateProcess
  let browser: Browser
  let page: Page
  let faults: PageErrors
  let projectId = ''
  let key = ''
  let subjectId = ''

  /** What those who do not see a page, or see it small, would stumble over. */
  const broken: string[] = []

  const step = sequentialTests()

  before(async () => {
    await buildConsole()
    assert.equal(await buildConsole(), 'fresh', 'what is built is not built again')
    facegate = await spawnFacegate({ RATE_SUSTAINED_PER_S: '20', RATE_BURST: '40' })
    browser = await openChromium(executable!)
    const context = await browser.newContext({ viewport: desktopViewport, reducedMotion: 'reduce' })
    page = await context.newPage()
    page.setDefaultTimeout(timeoutMs)
    faults = watchPageErrors(page, facegate.url)
  })

  after(async () => {
    await browser?.close()
    await facegate?.[Symbol.asyncDispose]()
  })

  step('the link that the service prints sets the password, once', async () => {
    const link = /\S+\/setup#\S+/u.exec(facegate.stdout())?.[0]
    assert.ok(link, 'the first start prints a link')
    await page.goto(link)
    await look('set-up')
    await page.getByLabel('Your name').fill('Olga')
    await page.getByLabel(/^Password(?: \*)?$/u).fill(password)
    await page.getByLabel('Password again').fill(password)
    await page.getByRole('button', { name: 'Set the password' }).click()
    await heading('Overview')
  })

  step('a project is made, and money goes into its budget', async () => {
    await go('Projects')
    await page.getByRole('button', { name: 'New project' }).first().click()
    await page.getByLabel('Name').fill(canary)
    await page.getByRole('button', { name: 'Make the project' }).click()
    await page.getByRole('link', { name: canary }).waitFor()
    await go('Wallet and budgets')
    await page.getByRole('button', { name: 'Top up' }).click()
    await page.getByLabel(/^Amount/u).fill('25')
    await page.getByRole('button', { name: 'Add to the wallet' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: `Allocate to ${canary}` }).click()
    await page.getByLabel(/^Amount/u).fill('2.50')
    await page.getByRole('button', { name: 'Allocate', exact: true }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('cell', { name: '2.50 USD' }).first().waitFor()
  })

  step('a key is made and shown once', async () => {
    await page.getByRole('combobox', { name: 'Project' }).click()
    await page.getByRole('option', { name: canary }).click()
    await go('API keys')
    projectId = new URL(page.url()).searchParams.get('projectId') ?? ''
    await page.getByRole('button', { name: 'New key' }).first().click()
    await page.getByLabel('Name').fill(`key ${canary}`)
    await page.getByRole('button', { name: 'Make the key' }).click()
    const done = page.getByRole('button', { name: 'Done' })
    await done.waitFor()
    await look('key-shown-once')
    assert.ok(await done.isDisabled(), 'it asks for the promise first')
    key = (await page.locator('pre').innerText()).trim()
    assert.match(key, /^fsk_/u)
    await page.getByLabel('I have copied it').check()
    await done.click()
    await page.getByRole('cell', { name: `key ${canary}`, exact: true }).waitFor()
  })

  step('the camera takes a picture, which can be thrown away', async () => {
    await go('Playground')
    await page.getByRole('button', { name: 'Camera' }).click()
    await page.getByRole('button', { name: 'Take the picture' }).click()
    await page.getByRole('button', { name: 'Remove picture 0: camera.jpg' }).click()
  })

  step('the playground finds the faces of a photograph and draws them', async () => {
    const { bytes } = await samplePhotograph(1)
    const file = { name: 'sample1.jpg', mimeType: 'image/jpeg', buffer: bytes }
    await page.locator('input[type=file]').setInputFiles(file)
    await run('svc.detect')
    const box = await page.locator('[data-mark] rect').first().boundingBox()
    assert.ok(box && box.width > 10 && box.height > 10, 'a box is visible')
    assert.ok((await page.locator('[data-mark] circle').count()) >= 5, 'landmarks too')
    await look('playground-detect')
  })

  step('a face is enrolled and then identified by name', async () => {
    await choose('svc.enroll')
    await page.getByRole('textbox', { name: 'externalId' }).fill(`olga-1 ${canary}`)
    await page.getByRole('textbox', { name: 'displayName' }).fill(canary)
    await page.getByRole('combobox', { name: 'groups' }).fill('first-hour')
    await page.keyboard.press('Enter')
    await page.getByRole('combobox', { name: 'facePolicy' }).click()
    await page.getByRole('option', { name: 'largest' }).click()
    await run('svc.enroll')
    await choose('svc.identify')
    await run('svc.identify')
    await page.locator('[data-mark=good] text', { hasText: canary.slice(0, 23) }).waitFor()
    await look('playground-identify')
  })

  step('the key works, and each call is in the log, the ledger and the overview', async () => {
    const answer = await createTestClient(facegate.url, key).run(
      'svc.detect',
      await samplePhotograph(1),
    )
    assert.equal(answer.body.ok, true)
    await go('Request log')
    await page.getByRole('cell', { name: 'svc.identify', exact: true }).waitFor()
    await page.getByRole('cell', { name: `key ${canary}`, exact: true }).waitFor()
    await page.getByRole('row').nth(4).waitFor()
    assert.equal(await page.getByRole('row').count(), 5, 'four calls under one heading')
    await page.getByRole('button', { name: /^Open the call svc.enroll/u }).click()
    await page.getByText('in the money audit').waitFor()
    await look('log-call')
    await page.getByRole('button', { name: 'Close' }).click()
    await go('Money audit')
    await page.getByText('They agree to the last micro-unit.').waitFor()
    const charges = page.getByRole('cell', { name: 'charge', exact: true })
    await charges.nth(3).waitFor()
    assert.equal(await charges.count(), 4)
    await go('Overview')
    await page.getByText('4 billed').waitFor()
  })

  step('a raised limit stays raised', async () => {
    await go('Projects')
    await page.getByRole('link', { name: canary }).click()
    await page.getByLabel(/^Sustained limit/u).fill('120')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('It applies from the next call on.').waitFor()
    await page.reload()
    await heading(canary)
    assert.equal(await page.getByLabel(/^Sustained limit/u).inputValue(), '120')
    await look('project')
  })

  step('a revoked key is refused at the next call', async () => {
    await go('API keys')
    await page.getByRole('button', { name: `Revoke key ${canary}` }).click()
    const revoke = page.getByRole('button', { name: 'Revoke', exact: true }).last()
    assert.ok(await revoke.isDisabled(), 'not before the name is typed')
    await page.getByLabel(/to confirm$/u).fill(`key ${canary}`)
    await revoke.click()
    await page.getByRole('cell', { name: 'revoked', exact: true }).waitFor()
    const refused = await createTestClient(facegate.url, key).run(
      'svc.detect',
      await samplePhotograph(1),
    )
    assert.equal(refused.status, 401)
  })

  step('every page can be heard and read, in light, in dark and on a small telephone', async () => {
    for (const [name, address] of consolePages) {
      await page.goto(inProject(address))
      await page.locator('h1').waitFor()
      await page.locator(loadingSelector).first().waitFor({ state: 'detached' })
      for (const scheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme: scheme })
        await takeScreenshot(page, `${name}-${scheme}`)
        broken.push(...(await seriousViolations(page, scheme)).map((fault) => `${name}: ${fault}`))
      }
      await page.setViewportSize(phoneViewport)
      if (!(await fitsWidth(page, phoneViewport.width, timeoutMs / 4)))
        broken.push(`${name}: scrolls sideways`)
      await page.setViewportSize(desktopViewport)
    }
    await page.emulateMedia({ colorScheme: 'light' })
    assert.deepEqual(broken, [])
  })

  step('the first page loads little script, and soon shows something', async (t) => {
    const scripts = new Set<string>()
    page.on('response', (response) => {
      const { pathname } = new URL(response.url())
      if (pathname.endsWith('.js')) scripts.add(pathname)
    })
    await page.goto(inProject('/'))
    await page.locator('.recharts-surface').first().waitFor()
    const dist = path.join(rootDir, 'web/dist')
    const bytes = [...scripts].reduce((sum, file) => sum + statSync(`${dist}${file}.gz`).size, 0)
    const paintMs = await page.evaluate(
      () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime,
    )
    t.diagnostic(`script of the overview with its chart, gzip: ${bytes} bytes`)
    t.diagnostic(`first contentful paint: ${paintMs?.toFixed(0)} ms`)
    assert.ok(scripts.size > 0)
    assert.ok(bytes <= scriptBytesMax, `${bytes} bytes`)
  })

  step('a deleted subject is gone, and the deletion ledger says so', async () => {
    await go('Subjects')
    await page.getByRole('cell', { name: 'olga-1' }).waitFor()
    await page
      .getByRole('button', { name: /^Open /u })
      .first()
      .click()
    await page.getByRole('button', { name: 'Delete the subject' }).waitFor()
    subjectId = new URL(page.url()).searchParams.get('subject') ?? ''
    await look('subject')
    await page.getByRole('button', { name: 'Delete the subject' }).click()
    await page.getByLabel(/to confirm$/u).fill(subjectId.slice(0, 8))
    await page.getByRole('button', { name: 'Delete for ever' }).click()
    await page.getByText('No subjects match').waitFor()
    await go('Deletion ledger')
    await page.getByRole('cell', { name: subjectId }).waitFor()
    await page.getByText('The chain of records is whole.').waitFor()
    await look('deletions-one')
  })

  step('whoever signed out sees the door, and signing in leads back', async () => {
    await go('Models')
    await page.getByRole('button', { name: 'Account of Olga' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await heading('Sign in')
    await look('sign-in')
    await page.getByLabel('Name').fill('Olga')
    await page.getByLabel(/^Password(?: \*)?$/u).fill(password)
    await page.keyboard.press('Enter')
    await heading('Models')
    await page.reload()
    await heading('Models')
    await page.keyboard.press('Tab')
    assert.equal(await page.locator(':focus').innerText(), 'Skip to the content')
    assert.deepEqual(broken, [])
  })

  step('names full of markup were shown as text all along', async () => {
    assert.deepEqual(faults.messages, [])
  })

  async function look(name: string): Promise<void> {
    await takeScreenshot(page, `${name}-light`)
    broken.push(...(await seriousViolations(page, 'light')).map((fault) => `${name}: ${fault}`))
  }

  const heading = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor()

  function inProject(address: string): string {
    const url = new URL(address, facegate.url)
    url.searchParams.set('projectId', projectId)
    return url.href
  }

  async function go(name: string): Promise<void> {
    await page.getByRole('navigation').getByRole('link', { name, exact: true }).click()
    await heading(name)
  }

  async function choose(action: string): Promise<void> {
    await page.getByRole('combobox', { name: 'Action', exact: true }).click()
    await page.getByRole('option', { name: action, exact: true }).click()
  }

  async function run(action: string): Promise<void> {
    await page.getByRole('button', { name: `Run ${action}` }).click()
    await page.locator('output').getByText('ok', { exact: true }).waitFor()
    await page.locator('[data-mark]').first().waitFor()
  }
})
