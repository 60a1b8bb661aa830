import { Page } from '../parts/page.tsx'

export function MoneyPage() {
  return <Page title="Money" />
}
