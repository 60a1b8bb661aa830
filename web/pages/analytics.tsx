import { Page } from '../parts/page.tsx'

export function AnalyticsPage() {
  return <Page title="Analytics" />
}
