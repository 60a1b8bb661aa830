import { Page } from '../parts/page.tsx'

export function KeysPage() {
  return <Page title="Keys" />
}
