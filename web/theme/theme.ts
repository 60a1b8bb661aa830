import { createTheme, type CSSVariablesResolver, type MantineColorsTuple } from '@mantine/core'

/** The colour of controls and of the current page. */
const petrol: MantineColorsTuple = [
  '#eaf5f6',
  '#d5e8ea',
  '#a9d1d6',
  '#79b8c0',
  '#529fa9',
  '#358a96',
  '#1b7583',
  '#0e6271',
  '#0e4b57',
  '#0a3841',
]

/** Amber, for face annotations and warnings only. */
const signal: MantineColorsTuple = [
  '#fff6e5',
  '#ffe9c6',
  '#fbd490',
  '#f7c05f',
  '#f2b34c',
  '#dd972a',
  '#b87713',
  '#8a570a',
  '#6b4306',
  '#4b2f03',
]

/** Grey with a slight petrol tint. */
const gray: MantineColorsTuple = [
  '#f5f8f9',
  '#ebf0f2',
  '#dde5e8',
  '#c9d4d8',
  '#a9b8be',
  '#84969e',
  '#62757e',
  '#485962',
  '#2f3d44',
  '#1a252a',
]

/** The colours of the dark scheme, from light text to dark surfaces. */
const dark: MantineColorsTuple = [
  '#d8e2e6',
  '#b4c2c8',
  '#91a2aa',
  '#60727b',
  '#3a4a52',
  '#2a3840',
  '#1d2930',
  '#141e24',
  '#0e161b',
  '#080e12',
]

/** The header of a dialog is not the banner of the page, which its element would be. */
const plainHeader = { role: 'presentation' } as const

/**
 * The theme of the console. Text sizes have a ratio of about 1.2, with 14 px as the base. Numbers use
 * a monospaced font, so that columns of numbers are aligned.
 */
export const theme = createTheme({
  colors: { petrol, signal, gray, dark },
  primaryColor: 'petrol',
  primaryShade: { light: 7, dark: 6 },
  autoContrast: true,
  luminanceThreshold: 0.35,
  defaultRadius: 3,
  cursorType: 'pointer',
  respectReducedMotion: true,
  fontFamily: '"Inter Variable", Inter, "Segoe UI", system-ui, -apple-system, sans-serif',
  fontFamilyMonospace:
    'ui-monospace, "SF Mono", "JetBrains Mono", "Cascadia Mono", Menlo, Consolas, monospace',
  fontSizes: { xs: '12px', sm: '13px', md: '14px', lg: '16px', xl: '19px' },
  lineHeights: { xs: '1.4', sm: '1.45', md: '1.5', lg: '1.5', xl: '1.4' },
  headings: {
    fontWeight: '620',
    sizes: {
      h1: { fontSize: '24px', lineHeight: '1.25' },
      h2: { fontSize: '16px', lineHeight: '1.35' },
      h3: { fontSize: '14px', lineHeight: '1.4' },
    },
  },
  components: {
    Modal: { defaultProps: { attributes: { header: plainHeader } } },
    Drawer: { defaultProps: { attributes: { header: plainHeader } } },
    Notification: {
      defaultProps: { closeButtonProps: { 'aria-label': 'Close this message' } },
    },
  },
})

/** Dimmed text and placeholders have a contrast of at least 4.5:1 on every surface. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-body': '#fbfcfd',
    '--mantine-color-text': gray[9],
    '--mantine-color-dimmed': '#51626a',
    '--mantine-color-placeholder': '#5c6d75',
    '--mantine-color-error': '#b3261e',
    '--mantine-color-anchor': petrol[7],
    '--fg-surface': '#ffffff',
    '--fg-sunken': gray[0],
    '--fg-border': gray[2],
    '--fg-ok': '#1f7a4d',
    '--fg-warn': '#9a5f00',
    '--fg-bad': '#b3261e',
  },
  dark: {
    '--mantine-color-body': '#0e161b',
    '--mantine-color-text': dark[0],
    '--mantine-color-dimmed': '#9fb0b8',
    '--mantine-color-placeholder': '#93a5ad',
    '--mantine-color-error': '#ff8f87',
    '--mantine-color-anchor': petrol[2],
    '--fg-surface': dark[7],
    '--fg-sunken': '#0b1216',
    '--fg-border': dark[5],
    '--fg-ok': '#5fcf97',
    '--fg-warn': '#f2b34c',
    '--fg-bad': '#ff8f87',
  },
})
