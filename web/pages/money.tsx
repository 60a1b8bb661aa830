import { SimpleGrid } from '@mantine/core'
import { useAnswer } from '../api/use-api.ts'
import { BudgetTable } from '../money/budget-table.tsx'
import { PriceTable } from '../money/price-table.tsx'
import { TopUp } from '../money/top-up.tsx'
import { Answered } from '../parts/answered.tsx'
import { Figure } from '../parts/figure.tsx'
import { LinkButton } from '../parts/link-button.tsx'
import { Money } from '../parts/money.tsx'
import { Page } from '../parts/page.tsx'
import { Panel } from '../parts/panel.tsx'

/** The wallet, what of it each project may spend, and what a call costs. */
export function MoneyPage() {
  const asked = useAnswer('/money')
  return (
    <Page
      title="Wallet and budgets"
      lead="Money goes from the wallet into the budgets of projects, and from there into charges. A failed call costs nothing."
      actions={
        <>
          <LinkButton to="/money/ledger" variant="default" size="sm">
            Money audit
          </LinkButton>
          <TopUp />
        </>
      }
    >
      <Answered asked={asked}>
        {({ walletMicros, projects, prices }) => (
          <>
            <SimpleGrid cols={{ base: 1, sm: 3 }}>
              <Figure
                label="Wallet"
                value={<Money micros={walletMicros} />}
                note="not yet allocated to a project"
              />
              <Figure
                label="In budgets"
                value={<Money micros={sumOf(projects.map((project) => project.balanceMicros))} />}
                note="allocated and not yet spent"
              />
              <Figure
                label="Spent"
                value={<Money micros={sumOf(projects.map((project) => project.spentMicros))} />}
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
      </Answered>
    </Page>
  )
}

function sumOf(amounts: readonly string[]): bigint {
  return amounts.reduce((sum, amount) => sum + BigInt(amount), 0n)
}
