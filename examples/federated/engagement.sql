-- For users who signed up this quarter: how does their clickstream engagement correlate with the revenue they generated,
-- split by whether their account is currently in good standing?
WITH engagement AS (
  SELECT customer_id, count(*) AS events
  FROM lake.web.clickstream
  WHERE event_time >= date_trunc('quarter', current_date)
  GROUP BY customer_id
), earned AS (
  SELECT m.customer_id AS customer_id, sum(m.net) AS revenue
  FROM marts.public.revenue m
  WHERE m.revenue_month >= cast(date_trunc('quarter', current_date) AS date)
  GROUP BY m.customer_id
)
SELECT c.good_standing,
       count(*)                                                     AS customers,
       round(avg(coalesce(e.events, 0)), 1)                         AS avg_events,
       round(avg(coalesce(r.revenue, 0)), 2)                        AS avg_revenue,
       round(corr(coalesce(e.events, 0), coalesce(r.revenue, 0)), 3) AS correlation
FROM app_pg.public.customers c
LEFT JOIN engagement e ON e.customer_id = c.customer_id
LEFT JOIN earned     r ON r.customer_id = c.customer_id
WHERE c.signed_up_at >= date_trunc('quarter', current_date)
GROUP BY c.good_standing
ORDER BY c.good_standing DESC;
