-- How did the campaigns of seller 7 do in the last three days: clicks, orders, revenue and conversion, by day?
WITH clicks AS (
  SELECT campaign_id, date_trunc('day', event_time) AS day, count(*) AS clicks
  FROM lake.web.clickstream
  WHERE seller_id = 7 AND event_type = 'click' AND event_time >= current_date - INTERVAL '2' DAY
  GROUP BY campaign_id, date_trunc('day', event_time)
), sales AS (
  SELECT campaign_id, date_trunc('day', ordered_at) AS day, count(*) FILTER (WHERE kind = 'sale') AS orders, sum(amount) AS revenue
  FROM lake.web.orders
  WHERE seller_id = 7 AND ordered_at >= current_date - INTERVAL '2' DAY
  GROUP BY campaign_id, date_trunc('day', ordered_at)
)
SELECT cast(clicks.day AS date)                                        AS day,
       clicks.campaign_id                                              AS campaign,
       clicks.clicks,
       coalesce(sales.orders, 0)                                       AS orders,
       coalesce(sales.revenue, 0)                                      AS revenue,
       round(100.0 * coalesce(sales.orders, 0) / clicks.clicks, 1)     AS conversion_pct
FROM clicks
LEFT JOIN sales ON sales.campaign_id = clicks.campaign_id AND sales.day = clicks.day
ORDER BY day, campaign;
