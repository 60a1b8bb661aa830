import type { Page } from 'playwright-core'
import { accessibilityFindings, takeScreenshot } from './chromium.ts'

export type ColorScheme = 'light' | 'dark'

/** The steps of a user in the console, on one page of the browser. */
export type ConsoleDriver = {
  /** Waits for the page heading. */
  readonly waitForHeading: (name: string) => Promise<void>
  /** Opens a page through the navigation. */
  readonly open: (name: string) => Promise<void>
  /** Chooses an action in the playground. */
  readonly chooseAction: (action: string) => Promise<void>
  /** Runs the action in the playground and waits for its annotations on the image. */
  readonly runAction: (action: string) => Promise<void>
  /** Runs a liveness challenge in the playground until `text` is shown, and closes it. */
  readonly runChallenge: (text: string) => Promise<void>
  /** Submits the form of a new key, which requires an expiry, and again with this choice. */
  readonly createKeyWithExpiry: (choice: string) => Promise<void>
  /** Changes the page to this scheme and adds its accessibility findings to `violations`. */
  readonly inspect: (name: string, scheme: ColorScheme) => Promise<void>
  /** Inspects the page in both schemes, the present one first, and keeps the other one. */
  readonly inspectSchemes: (name: string) => Promise<void>
  readonly scheme: () => ColorScheme
  readonly violations: string[]
}

export function createConsoleDriver(page: Page): ConsoleDriver {
  const violations: string[] = []
  const checkedStyles = { light: new Set<string>(), dark: new Set<string>() }
  let current: ColorScheme = 'light'
  const inspect: ConsoleDriver['inspect'] = async (name, scheme) => {
    if (scheme !== current) await page.emulateMedia({ colorScheme: scheme })
    current = scheme
    const schemed = page.locator(`html[data-mantine-color-scheme=${scheme}]`)
    await schemed.waitFor({ state: 'attached' })
    await takeScreenshot(page, `${name}-${scheme}`)
    const findings = await accessibilityFindings(page, scheme, checkedStyles[scheme])
    violations.push(...findings.map((finding) => `${name}: ${finding}`))
  }
  const waitForHeading = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor()
  return {
    violations,
    waitForHeading,
    open: async (name) => {
      await page.getByRole('navigation').getByRole('link', { name, exact: true }).click()
      await waitForHeading(name)
    },
    chooseAction: async (action) => {
      await page.getByRole('combobox', { name: 'Action', exact: true }).click()
      await page.getByRole('option', { name: action, exact: true }).click()
    },
    runAction: async (action) => {
      await page.getByRole('button', { name: `Run ${action}` }).click()
      await page.locator('output').getByText('ok', { exact: true }).waitFor()
      await page.locator('[data-annotation]').first().waitFor()
    },
    runChallenge: async (text) => {
      await page.getByRole('button', { name: 'Run a session' }).click()
      await page.getByRole('button', { name: 'Start', exact: true }).click()
      await page.getByText(text).waitFor()
      await page.getByRole('button', { name: 'Close the session' }).click()
    },
    createKeyWithExpiry: async (choice) => {
      const dialog = page.getByRole('dialog')
      const create = dialog.getByRole('button', { name: 'Create key' })
      await create.click()
      await dialog.getByText('Choose when the key expires').waitFor()
      await dialog.getByRole('combobox', { name: 'Expires' }).click()
      await page.getByRole('option', { name: choice, exact: true }).click()
      await create.click()
    },
    inspect,
    inspectSchemes: async (name) => {
      const schemes = ['light', 'dark'] as const
      for (const scheme of current === 'light' ? schemes : schemes.toReversed())
        await inspect(name, scheme)
    },
    scheme: () => current,
  }
}
