import { SimpleGrid } from '@mantine/core'
import { useApiQuery } from '../api/use-api.ts'
import { BudgetTable } from './budget-table.tsx'
import { PriceTable } from './price-table.tsx'
import { TopUpButton } from './top-up-button.tsx'
import { QueryContent } from '../components/query-content.tsx'
import { StatCard } from '../components/stat-card.tsx'
import { LinkButton } from '../components/link-button.tsx'
import { MoneyAmount } from '../components/money-amount.tsx'
import { Page } from '../layout/page.tsx'
import { Panel } from '../layout/panel.tsx'

/** The wallet, what of it each project may spend, and what a call costs. */
export function MoneyPage() {
  const asked = useApiQuery('/money')
  return (
    <Page
      title="Wallet and budgets"
      description="Money goes from the wallet into the budgets of projects, and from there into charges. A failed call costs nothing."
      actions={
        <>
          <LinkButton to="/money/ledger" variant="default" size="sm">
            Money audit
          </LinkButton>
          <TopUpButton />
        </>
      }
    >
      <QueryContent query={asked}>
        {({ walletMicros, projects, prices }) => (
          <>
            <SimpleGrid cols={{ base: 1, sm: 3 }}>
              <StatCard
                label="Wallet"
                value={<MoneyAmount micros={walletMicros} />}
                note="not yet allocated to a project"
              />
              <StatCard
                label="In budgets"
                value={
                  <MoneyAmount micros={sumOf(projects.map((project) => project.balanceMicros))} />
                }
                note="allocated and not yet spent"
              />
              <StatCard
                label="Spent"
                value={
                  <MoneyAmount micros={sumOf(projects.map((project) => project.spentMicros))} />
                }
                note="charged to calls since the beginning"
              />
            </SimpleGrid>
            <Panel title="Budgets">
              <BudgetTable projects={projects} />
            </Panel>
            <Panel title="Prices">
              <PriceTable prices={prices} />
            </Panel>
          </>
        )}
      </QueryContent>
    </Page>
  )
}

function sumOf(amounts: readonly string[]): bigint {
  return amounts.reduce((sum, amount) => sum + BigInt(amount), 0n)
}
